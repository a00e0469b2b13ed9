import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { onPostgres } from '../support/databases.ts'
import { idle } from '../support/billing.ts'
import { concurrently, openMoney, type MoneyBilling } from './money-billing.ts'
import { providers } from './providers.ts'

const both = ['PaymentSucceeded', 'PaymentRefunded']

/** A lost callback leaves no payment wrong: whatever a provider knows, reconciliation finds. */
onPostgres((engine) => {
  for (const [name, start] of providers) {
    describe(name, { concurrency: 1 }, () => {
      let billing: MoneyBilling
      before(async () => {
        billing = await openMoney(engine, await start())
      })
      after(async () => {
        await billing.close()
        await billing.provider.close()
      })

      test('a payment whose callback is lost is found paid, with its event, once', async () => {
        const payment = await billing.createOpened()
        assert.equal(payment.checkout, 'open')
        billing.provider.pay(payment.id)
        await billing.pass(payment, 1)
        const { changed, failed } = await billing.core.reconcile()
        assert.deepEqual({ changed, failed }, { changed: 1, failed: 0 })
        const { status, transitions } = await billing.details(payment)
        assert.equal(status, 'paid')
        assert.deepEqual(
          transitions.map(({ cause }) => cause),
          ['poll'],
        )
        assert.deepEqual(await billing.events(payment), ['PaymentSucceeded'])
        await billing.deliver(billing.provider.paymentCallback(payment.id))
        assert.deepEqual(await billing.events(payment), ['PaymentSucceeded'])
      })

      test('a payment that was declined, and paid after all, is found paid', async () => {
        const payment = await billing.createOpened()
        billing.provider.decline(payment.id)
        await billing.deliver(billing.provider.paymentCallback(payment.id))
        assert.equal((await billing.details(payment)).status, 'failed')
        billing.provider.pay(payment.id)
        await billing.pass(payment, 1)
        await billing.core.reconcile()
        assert.equal((await billing.details(payment)).status, 'paid')
        assert.deepEqual(await billing.events(payment), ['PaymentFailed', 'PaymentSucceeded'])
      })

      for (const [what, sum] of [
        ['a part', 3_000n],
        ['all', 15_075n],
      ] as const) {
        const expected = { status: 'paid', refunds: [sum], events: both, reviews: 0 }

        test(`${what} of it went back before anything was heard: a poll tells both, in order`, async () => {
          const payment = await refundedWithoutCallback(billing, sum)
          await billing.pass(payment, 1)
          await billing.core.reconcile()
          assert.deepEqual(await outcomeOf(billing, payment), expected)
          await billing.deliver(billing.provider.paymentCallback(payment.id))
          await billing.deliver(billing.provider.refundCallback(payment.id))
          assert.deepEqual(await outcomeOf(billing, payment), expected)
        })

        test(`${what} of it went back, and only that callback came: it tells both, in order`, async () => {
          const payment = await refundedWithoutCallback(billing, sum)
          const callback = billing.provider.refundCallback(payment.id)
          await billing.deliver(callback)
          assert.deepEqual(await outcomeOf(billing, payment), expected)
          await billing.pass(payment, 1)
          await billing.core.reconcile()
          await billing.deliver(callback)
          assert.deepEqual(await outcomeOf(billing, payment), expected)
        })
      }

      test('a payment that nobody paid is polled, and stays pending', async () => {
        const payment = await billing.createOpened()
        await billing.pass(payment, 1)
        const asked = billing.provider.asked.length
        await billing.core.reconcile()
        assert.ok(billing.provider.asked.length > asked)
        assert.equal((await billing.details(payment)).status, 'pending')
        assert.deepEqual(await billing.events(payment), [])
      })

      test('one whose checkout has ended is written off, and paid late it is paid', async () => {
        const payment = await billing.createOpened()
        billing.provider.expire(payment.id)
        await billing.pass(payment, 25)
        await billing.core.reconcile()
        const canceled = await billing.details(payment)
        assert.deepEqual([canceled.status, canceled.checkout], ['canceled', 'closed'])
        assert.deepEqual(await billing.events(payment), ['PaymentCanceled'])
        const late = await paidLate(billing, payment.id)
        if (late === undefined) return
        await billing.deliver(late)
        assert.equal((await billing.details(payment)).status, 'paid')
        assert.deepEqual(await billing.events(payment), ['PaymentCanceled', 'PaymentSucceeded'])
      })

      test('a provider that is down for a day loses no payment', async () => {
        const payment = await billing.createOpened()
        billing.provider.pay(payment.id)
        billing.provider.down = true
        for (const hours of [1, 6, 17]) {
          await billing.pass(payment, hours)
          const { failed, changed } = await billing.core.reconcile()
          assert.ok(failed > 0)
          assert.equal(changed, 0)
        }
        assert.equal((await billing.details(payment)).status, 'pending')
        billing.provider.down = false
        await billing.pass(payment, 1)
        await billing.core.reconcile()
        assert.equal((await billing.details(payment)).status, 'paid')
        assert.deepEqual(await billing.events(payment), ['PaymentSucceeded'])
      })

      test('100 polls race 100 late callbacks in any order: one event each', async () => {
        const rounds = 100
        const payments = await inLanes(rounds, async () => {
          const payment = await billing.createOpened()
          billing.provider.pay(payment.id)
          return payment
        })
        await inLanes(rounds, async (index) => {
          const payment = payments[index]
          assert.ok(payment)
          const callback = billing.provider.paymentCallback(payment.id)
          const poll = async () => void (await billing.core.payments.poll(payment.id))
          const receive = () => billing.receive(callback)
          // Sometimes one has a head start, sometimes the other.
          const head = Math.random() * 20
          const [first, second] = index % 2 === 0 ? [poll, receive] : [receive, poll]
          await Promise.all([first(), pause(head).then(second)])
        })
        await idle(billing.core)
        const succeeded = await eventsPer(billing, payments)
        assert.deepEqual([...new Set(succeeded.values())], [1])
        assert.equal(succeeded.size, rounds)
      })
    })
  }
}, concurrently)

async function refundedWithoutCallback({ createOpened, provider }: MoneyBilling, sum: bigint) {
  const payment = await createOpened()
  provider.pay(payment.id)
  provider.refundByHand(payment.id, sum)
  return payment
}

async function outcomeOf(billing: MoneyBilling, payment: { readonly id: string }) {
  const { status, refunds } = await billing.details(payment)
  const flagged = await billing.core.calls.list({ needsReview: true, paymentId: payment.id })
  return {
    status,
    refunds: refunds.filter((refund) => refund.status === 'paid').map(({ amount }) => amount),
    events: await billing.events(payment),
    reviews: flagged.data.length,
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** The callback of a payer who got through after the end; undefined where the provider lets none. */
async function paidLate(billing: MoneyBilling, id: string) {
  try {
    billing.provider.pay(id)
  } catch {
    return undefined
  }
  return billing.provider.paymentCallback(id)
}

async function inLanes<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  const indexes = Array.from({ length: count }).keys()
  const lane = async () => {
    for (const index of indexes) results[index] = await work(index)
  }
  await Promise.all(Array.from({ length: 8 }, lane))
  return results
}

async function eventsPer(billing: MoneyBilling, payments: readonly { readonly id: string }[]) {
  const ids = new Set(payments.map(({ id }) => id))
  const counts = new Map<string, number>()
  let cursor: string | undefined
  do {
    const page = await billing.core.events.list({
      type: 'PaymentSucceeded',
      limit: 100,
      ...(cursor !== undefined && { cursor }),
    })
    for (const { paymentId } of page.data) {
      if (paymentId === null || !ids.has(paymentId)) continue
      counts.set(paymentId, (counts.get(paymentId) ?? 0) + 1)
    }
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return counts
}
