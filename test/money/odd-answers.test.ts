import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { after, before, beforeEach, describe, test } from 'node:test'
import timers from 'node:timers/promises'
import { sql } from 'kysely'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { StatedBilling } from '../support/stated-billing.ts'
import { onPostgres } from '../support/databases.ts'
import { handClock } from '../support/hand-clock.ts'
import { until } from '../support/until.ts'
import { age, onlyOpens, openScripted, pollReply, refusal, type Script } from './scripted.ts'

const codeOf = (error: unknown) => (isQuittanceError(error) ? error.code : String(error))
const rejectsWith = (work: Promise<unknown>, code: string) =>
  assert.rejects(work, (error) => codeOf(error) === code || assert.fail(codeOf(error)))

onPostgres((engine) => {
  let billing: StatedBilling
  let script: Script
  before(async () => {
    ;({ billing, script } = await openScripted(engine))
  })
  beforeEach(() => onlyOpens(script))
  after(() => billing.close())

  const create = () =>
    billing.create({ gateway: 'scripted', amount: 10_000, currency: 'USD', checkout: true })
  const paid = ({ id }: Payment) =>
    ({
      type: 'payment',
      payment: { id },
      status: 'paid',
      amount: 10_000n,
      currency: 'USD',
    }) as const
  const createPaid = async () => {
    const payment = await create()
    await billing.sayBy('scripted', paid(payment))
    return payment
  }
  const returned = ({ id }: Payment, refundReference: string, fields: object = {}) =>
    ({
      type: 'refund',
      payment: { id },
      status: 'paid',
      amount: 10_000n,
      currency: 'USD',
      refundReference,
      ...fields,
    }) as const
  const total = ({ id }: Payment, refundedTotal: bigint) =>
    ({ type: 'refund', payment: { id }, status: 'paid', currency: 'USD', refundedTotal }) as const
  const events = async (payment: Payment) =>
    (await billing.details(payment)).events.map(({ type }) => type)

  describe('a refund that is under way', () => {
    test('is not taken for one of equal amount that somebody makes in the dashboard', async () => {
      const payment = await createPaid()
      script.refund = async () => {
        await billing.sayBy('scripted', returned(payment, 're_dashboard'))
        throw refusal()
      }
      await rejectsWith(billing.core.refunds.create(payment.id), 'refund_refused')
      assert.deepEqual(await billing.refunds(payment), ['failed 10000', 'paid 10000'])
      await rejectsWith(billing.core.refunds.create(payment.id), 'refund_too_large')
      assert.deepEqual(await events(payment), ['PaymentSucceeded', 'PaymentRefunded'])
    })

    test('keeps a sum waiting: two refunds that one sum tells are two, and no third', async () => {
      const payment = await createPaid()
      const both = Promise.withResolvers<void>()
      let asked = 0
      script.refund = async () => {
        asked += 1
        if (asked === 2) {
          await billing.core.receive({
            gateway: 'scripted',
            target: '/billing/webhooks/scripted',
            headers: { 'content-type': 'application/json', 'x-stated': 'yes' },
            body: Buffer.from(
              JSON.stringify([{ ...total(payment, 5_000n), refundedTotal: '5000' }]),
            ),
          })
          const calls = async () => (await billing.core.calls.list({ limit: 1 })).data
          await until(async () => (await calls())[0]?.exception != null, {
            what: 'the sum is told, and waits',
          })
          both.resolve()
        }
        await both.promise
        return { status: 'paid' }
      }
      await Promise.all([
        billing.core.refunds.create(payment.id, { amount: 3_000 }),
        billing.core.refunds.create(payment.id, { amount: 2_000 }),
      ])
      await billing.retry()
      assert.deepEqual((await billing.refunds(payment)).toSorted(), ['paid 2000', 'paid 3000'])
      const told = (await events(payment)).filter((type) => type === 'PaymentRefunded')
      assert.equal(told.length, 2)
    })

    test('that nobody answered is found in a sum of several, each once', async () => {
      const payment = await createPaid()
      await rejectsWith(
        billing.core.refunds.create(payment.id, { amount: 3_000 }),
        'refund_unknown',
      )
      await rejectsWith(
        billing.core.refunds.create(payment.id, { amount: 2_000 }),
        'refund_unknown',
      )
      await billing.sayBy('scripted', total(payment, 5_000n))
      assert.deepEqual((await billing.refunds(payment)).toSorted(), ['paid 2000', 'paid 3000'])
      const told = (await events(payment)).filter((type) => type === 'PaymentRefunded')
      assert.equal(told.length, 2)
    })

    test('that the provider lists with another amount is not called a failure', async () => {
      const payment = await createPaid()
      await rejectsWith(
        billing.core.refunds.create(payment.id, { amount: 5_000 }),
        'refund_unknown',
      )
      const [refund] = (await billing.details(payment)).refunds
      await age(billing, payment, 30)
      script.poll = async () =>
        pollReply(
          [paid(payment), returned(payment, 're_odd', { amount: 4_999n, refundId: refund?.id })],
          { standing: 'paid', listsRefunds: true },
        )
      const { payment: after } = await billing.core.payments.poll(payment.id)
      assert.deepEqual(await billing.refunds(payment), ['pending 5000'])
      assert.match(after.pollError ?? '', /review: amount_mismatch/)
    })

    test('and reported by the provider alone, is polled until it is done', async () => {
      const payment = await createPaid()
      await billing.sayBy('scripted', returned(payment, 're_slow', { status: 'pending' }))
      await sql`update billing.payments set next_poll_at = clock_timestamp() - interval '1 second'
        where parent_id = ${payment.id} and next_poll_at is not null`.execute(billing.database.db)
      script.poll = async () =>
        pollReply([paid(payment), returned(payment, 're_slow')], { standing: 'paid' })
      await billing.core.reconcile({ gateway: 'scripted' })
      assert.deepEqual(await billing.refunds(payment), ['paid 10000'])
    })
  })

  describe('a poll', () => {
    test('that says paid with other money writes nothing off, and is for a person', async () => {
      const payment = await create()
      await age(billing, payment, 30)
      script.poll = async () =>
        pollReply([{ ...paid(payment), amount: 9_999n }], { standing: 'paid' })
      const { payment: after } = await billing.core.payments.poll(payment.id)
      assert.equal(after.status, 'pending')
      assert.match(after.pollError ?? '', /review: amount_mismatch/)
    })

    test('of what was refused, and is not there, cancels it', async () => {
      const id = randomUUID()
      script.open = async () => {
        throw refusal()
      }
      const input = { id, gateway: 'scripted', currency: 'USD', checkout: true }
      await rejectsWith(billing.create(input), 'checkout_refused')
      script.poll = async () => pollReply([], { standing: 'absent' })
      assert.equal((await billing.core.payments.poll(id)).payment.status, 'pending')
      await age(billing, { id }, 1)
      assert.equal((await billing.core.payments.poll(id)).payment.status, 'canceled')
    })

    test('of what is undecided is asked again, however long it takes', async () => {
      const payment = await create()
      await age(billing, payment, 24 * 40)
      script.poll = async () => pollReply([], { standing: 'undecided' })
      const { payment: after } = await billing.core.payments.poll(payment.id)
      assert.equal(after.status, 'pending')
      const { rows } = await sql<{ due: boolean }>`
        select next_poll_at is not null as due from billing.payments where id = ${payment.id}`.execute(
        billing.database.db,
      )
      assert.deepEqual(rows, [{ due: true }])
    })

    test('that finds the end, and a closing that is refused, cancels nothing yet', async () => {
      const payment = await create()
      await age(billing, payment, 30)
      script.poll = async () => pollReply()
      script.closeCheckout = async () => {
        throw refusal()
      }
      const { payment: after } = await billing.core.payments.poll(payment.id)
      assert.equal(after.status, 'pending')
      script.closeCheckout = async () => 'closed'
      assert.equal((await billing.core.payments.poll(payment.id)).payment.status, 'canceled')
    })

    test('that finds the end of what the provider closes for nobody asks it no more, and cancels', async () => {
      const payment = await create()
      await age(billing, payment, 30)
      script.poll = async () => pollReply([], { unclosable: true })
      script.closeCheckout = () => assert.fail('it was asked to close')
      for (const _ of ['the end', 'after it']) {
        const { payment: after } = await billing.core.payments.poll(payment.id)
        assert.equal(after.status, 'canceled')
      }
    })

    test('comes no oftener than the provider likes it', async (t) => {
      const payments = [await create(), await create(), await create()]
      // 1,200 a minute.
      const spacing = 50
      let [asked, over, tooSoon] = [0, 0, 0]
      script.poll = async () => {
        asked += 1
        if (asked > over + 1) tooSoon += 1
        return pollReply()
      }
      const pause = timers.setTimeout
      const watched = t.mock.method(timers, 'setTimeout', async (ms?: number) => {
        // Longer than it takes to begin the next one.
        await pause(ms === spacing ? 6 * spacing : ms)
        if (ms === spacing) over += 1
      })
      syncBuiltinESMExports()
      for (const { id } of payments) {
        await sql`update billing.payments set next_poll_at = clock_timestamp() - interval '1 day'
          where id = ${id}`.execute(billing.database.db)
      }
      const { polled } = await billing.core.reconcile({ gateway: 'scripted' })
      watched.mock.restore()
      syncBuiltinESMExports()
      assert.deepEqual([polled, asked, over, tooSoon], [3, 3, 3, 0])
    })

    test('by schedule leaves what is too much to the next run', async (t) => {
      const atOnce = 4
      const payments: Payment[] = []
      while (payments.length < 2 * atOnce) payments.push(await create())
      const clock = handClock(t)
      for (const { id } of payments) {
        await sql`update billing.payments set next_poll_at = clock_timestamp() - interval '1 day'
          where id = ${id}`.execute(billing.database.db)
      }
      script.poll = async () => {
        clock.pass(121)
        return pollReply()
      }
      const { polled } = await billing.core.reconcile({ gateway: 'scripted', lasts: 120 })
      assert.ok(polled > 0 && polled <= atOnce, `${polled}`)
    })

    test('that breaks leaves the others of its run to go on', async () => {
      const broken = await create()
      const sound = await create()
      await sql`update billing.payments set next_poll_at = clock_timestamp() - interval '1 hour'
        where id in (${broken.id}, ${sound.id})`.execute(billing.database.db)
      script.poll = async ({ payment }) => {
        if (payment.id === broken.id) throw new TypeError('a bug of the gateway')
        return payment.id === sound.id ? pollReply([paid(payment)]) : pollReply()
      }
      const { failed, changed } = await billing.core.reconcile({ gateway: 'scripted' })
      assert.deepEqual({ failed, changed }, { failed: 1, changed: 1 })
      assert.equal((await billing.details(sound)).status, 'paid')
    })
  })

  describe('canceling', () => {
    test('what is being paid is refused', async () => {
      const payment = await create()
      script.closeCheckout = async () => 'not_open'
      script.poll = async () => pollReply([], { standing: 'undecided' })
      await rejectsWith(billing.core.payments.cancel(payment.id), 'payment_not_cancelable')
      assert.equal((await billing.details(payment)).status, 'pending')
    })

    test('what is just being opened is refused, so that no checkout is left open', async () => {
      const id = randomUUID()
      const opening = Promise.withResolvers<void>()
      script.open = async () => {
        await opening.promise
        return { url: 'https://provider.example/pay' }
      }
      const input = { id, gateway: 'scripted', currency: 'USD', checkout: true }
      const creating = billing.create(input)
      const isThere = async () => (await billing.core.payments.get(id)) !== undefined
      await until(isThere, { what: 'the payment is there' })
      await rejectsWith(billing.core.payments.cancel(id), 'checkout_unknown')
      opening.resolve()
      assert.equal((await creating).checkout, 'open')
    })

    test('what nobody answered closes the checkout that a poll finds', async () => {
      const id = randomUUID()
      script.open = async () => {
        throw new Error('cut')
      }
      const input = { id, gateway: 'scripted', currency: 'USD', checkout: true }
      await rejectsWith(billing.create(input), 'checkout_unknown')
      script.poll = async () =>
        pollReply([], { checkout: { url: 'https://provider.example/found' } })
      let closed = 0
      script.closeCheckout = async () => {
        closed += 1
        return 'closed'
      }
      assert.equal((await billing.core.payments.cancel(id)).status, 'canceled')
      assert.equal(closed, 1)
    })
  })

  describe('creating once more with the same id', () => {
    test('is the same payment in whatever order its keys come, and after its end', async () => {
      const id = randomUUID()
      const expiresAt = new Date(Date.now() + 60_000)
      const input = { id, gateway: 'scripted', currency: 'USD', checkout: true, expiresAt }
      const first = await billing.create({ ...input, metadata: { a: 1, b: { c: 2, d: 3 } } })
      await age(billing, first, 1)
      const again = await billing.create({ ...input, metadata: { b: { d: 3, c: 2 }, a: 1 } })
      assert.equal(again.id, first.id)
      await rejectsWith(billing.create({ ...input, metadata: { a: 2 } }), 'payment_exists')
    })

    test('with another reference is another payment', async () => {
      const id = randomUUID()
      const input = { id, gateway: 'scripted', currency: 'USD' }
      await billing.create({ ...input, checkout: false, providerReference: `ref_${id}` })
      await rejectsWith(
        billing.create({ ...input, checkout: false, providerReference: 'ref_other' }),
        'payment_exists',
      )
    })

    test('metadata that no JSON can hold is refused', async () => {
      await rejectsWith(
        billing.create({ gateway: 'scripted', currency: 'USD', metadata: { a: 1n } }),
        'payment_invalid',
      )
    })
  })
})
