import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import type { Payment } from '../../src/payments/payment.ts'
import { days, hours } from '../../src/kernel/duration.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { openBilling, idle } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { longAgo, managedLives } from '../providers/managed-lives.ts'
import { startPaddle } from '../providers/paddle.ts'
import type { ProviderStandIn } from '../providers/provider-stand-in.ts'
import { startStripe } from '../providers/stripe.ts'
import { settled } from '../support/settled.ts'
import { openMoney, type MoneyBilling } from './money-billing.ts'

interface Listing {
  readonly provider: ProviderStandIn
  /** Types of all events that the provider has made, oldest first. */
  types(): readonly string[]
  /** Makes one about the payment that is of no use here. */
  tellOther(paymentId: string): void
}

const perPage = 8

async function listStripe(): Promise<Listing> {
  const provider = await startStripe({ mostPerPage: perPage })
  return {
    provider,
    types: () => provider.events.map(({ type }) => type),
    tellOther: (paymentId) => provider.paySlowly(paymentId),
  }
}

async function listPaddle(): Promise<Listing> {
  const provider = await startPaddle()
  provider.account.pageLimit = perPage
  return {
    provider,
    types: () => provider.account.events.map((one) => one.event_type),
    // It has told of each transaction when it was made.
    tellOther: () => {},
  }
}

const listings = [
  ['stripe', listStripe, 'payment_intent.processing', 'type'],
  ['paddle', listPaddle, 'transaction.created', 'event_type'],
] as const

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    assert.ok(isQuittanceError(error), String(error))
    return error.code
  }
  throw new Error('nothing failed')
}

onPostgres((engine) => {
  for (const [name, list, otherKind, typeField] of listings) {
    describe(name, () => {
      let billing: MoneyBilling
      let listing: Listing
      before(async () => {
        listing = await list()
        billing = await openMoney(engine, listing.provider)
      })
      after(async () => {
        await billing.close()
        await listing.provider.close()
      })
      const since = () => new Date(Date.now() - hours(1))
      const backfill = (onProgress?: (part: number) => void) =>
        billing.core.backfill({ gateway: name, since: since(), onProgress })
      const createPaid = async (count: number) => {
        const payments: Payment[] = []
        for (let made = 0; made < count; made += 1) payments.push(await billing.createOpened())
        for (const { id } of payments) billing.provider.pay(id)
        return payments
      }
      /** Events that are of use here. */
      const handled = () => {
        const { registration } = billing.provider.gateway
        return listing.types().filter((type) => registration?.events.includes(type))
      }
      const assertPaidOnce = async (payments: readonly Payment[]) => {
        for (const payment of payments) {
          const { status, transitions } = await billing.details(payment)
          assert.deepEqual([status, transitions.length], ['paid', 1])
          assert.deepEqual(await billing.events(payment), ['PaymentSucceeded'])
        }
      }
      const storedTypes = async () => {
        const { rows } = await sql<{ type: string }>`
          select payload->>${typeField} as type from billing.webhook_calls`.execute(
          billing.database.db,
        )
        return rows.map(({ type }) => type)
      }

      test('of 24 payments, some of whose callbacks arrived, all are paid, each once', async () => {
        const payments = await createPaid(24)
        const arrived = payments.filter((_, index) => index % 3 === 0)
        for (const { id } of arrived) await billing.receive(billing.provider.paymentCallback(id))
        await idle(billing.core)
        assert.deepEqual(await backfill(), {
          listed: handled().length,
          stored: handled().length - arrived.length,
        })
        await idle(billing.core)
        await assertPaidOnce(payments)
        // Those callbacks may come yet.
        for (const { id } of payments) await billing.receive(billing.provider.paymentCallback(id))
        await idle(billing.core)
        await assertPaidOnce(payments)
      })

      test('what was stored once is known, whoever told it', async () => {
        const calls = (await storedTypes()).length
        assert.deepEqual(await backfill(), { listed: handled().length, stored: 0 })
        assert.equal((await storedTypes()).length, calls)
      })

      test('events of other kinds are left out', async () => {
        const { id } = await billing.createOpened()
        listing.tellOther(id)
        assert.ok(listing.types().includes(otherKind))
        await backfill()
        await idle(billing.core)
        assert.ok(!(await storedTypes()).includes(otherKind))
      })

      test('refunds that were made by hand meanwhile are found', async () => {
        const payment = await billing.createPaid()
        billing.provider.refundByHand(payment.id, 5_000n)
        await backfill()
        await idle(billing.core)
        const { refunds } = await billing.details(payment)
        assert.deepEqual(
          refunds.map(({ status, amount }) => [status, amount]),
          [['paid', 5_000n]],
        )
      })

      test('a provider that fails in the middle: what was stored stays, a second run finishes', async () => {
        const payments = await createPaid(12)
        const before = (await storedTypes()).length
        const expected = handled().length
        let pages = 0
        const fail = () => {
          pages += 1
          if (pages === (name === 'stripe' ? 2 : pagesOfKnown(expected))) {
            billing.provider.misbehave('events', 'refuse')
          }
        }
        assert.equal(await codeOf(backfill(fail)), 'provider_refused')
        const between = (await storedTypes()).length
        assert.ok(between > before, 'nothing was stored before it failed')
        const { listed, stored } = await backfill()
        assert.ok(stored > 0, 'nothing was left')
        assert.equal(listed, handled().length)
        await idle(billing.core)
        await assertPaidOnce(payments)
        assert.deepEqual(await backfill(), { listed, stored: 0 })
      })

      test('progress rises up to the whole', async () => {
        const parts: number[] = []
        await backfill((part) => parts.push(part))
        assert.ok(parts.length > 3)
        assert.deepEqual(
          parts,
          parts.toSorted((a, b) => a - b),
        )
        assert.ok(parts.every((part) => part >= 0 && part <= 1))
      })

      test('a time of which the provider keeps nothing is refused; the oldest one is not', async () => {
        const { keptFor = 0 } = billing.provider.gateway.backfill ?? {}
        const at = (age: number) =>
          billing.core.backfill({ gateway: name, since: new Date(Date.now() - age) })
        assert.equal(await codeOf(at(keptFor + days(1))), 'backfill_too_old')
        // As `--since 30d` is, by the time that it gets here.
        assert.ok((await at(keptFor + 1_000)).listed > 0)
      })
    })
  }

  for (const [name, start] of managedLives) {
    test(`${name}: the whole life of a subscription is found, of which no callback came`, async (t) => {
      const at = await start()
      const billing = await openMoney(engine, at.provider)
      t.after(async () => {
        await billing.close()
        await at.provider.close()
      })
      const began = new Date(Math.floor(Date.now() / 1000) * 1000 - longAgo)
      /** Renewed once and ended in its second day; nothing of it is delivered. */
      const live = async () => {
        at.clock.now = undefined
        const { subscription, payment } = await billing.core.subscriptions.create({
          gateway: name,
          managedBy: 'provider',
          payable: { type: 'account', id: newUuid() },
          amount: 4_999,
          currency: 'USD',
          every: 'day',
          customer: { email: 'payer@example.test' },
        })
        assert.ok(payment)
        at.clock.now = began
        at.provider.pay(payment.id)
        at.clock.now = new Date(began.getTime() + days(1))
        at.renew(payment.id)
        at.clock.now = new Date(began.getTime() + days(1.5))
        at.end(payment.id)
        at.clock.now = undefined
        return { id: subscription.id, payment }
      }
      const stands = async (id: string) => {
        await settled(billing)
        const found = await billing.core.subscriptions.get(id)
        const types = found?.events.map(({ type }) => type) ?? []
        assert.deepEqual((await billing.core.reviews.list({ state: 'open' })).data, [])
        return {
          status: found?.status,
          paidUntil: found?.paidUntil,
          periods: found?.periods
            .toSorted((one, other) => one.number - other.number)
            .map(({ number, state, startsAt }) => [number, state, startsAt]),
          events: types.filter((type) => type.startsWith('Subscription')),
        }
      }
      const second = new Date(began.getTime() + days(1))
      const ended = {
        status: 'canceled',
        paidUntil: new Date(began.getTime() + days(2)),
        periods: [
          [1, 'paid', began],
          [2, 'paid', second],
        ],
        events: [
          'SubscriptionCreated',
          'SubscriptionRenewed',
          'SubscriptionRenewed',
          'SubscriptionCancelled',
        ],
      }
      const backfill = () =>
        billing.core.backfill({ gateway: name, since: new Date(began.getTime() - hours(1)) })
      const { id, payment } = await live()
      assert.ok((await backfill()).stored > 0)
      assert.deepEqual(await stands(id), ended)
      for (const callback of at.callbacks(payment.id)) await billing.receive(callback)
      assert.deepEqual(await stands(id), ended)
      assert.equal((await backfill()).stored, 0)
      assert.deepEqual(await stands(id), ended)
      // Newest first, one after the other: its end is what comes first.
      const other = await live()
      for (const callback of at.callbacks(other.payment.id).toReversed()) {
        await billing.deliver(callback)
      }
      assert.deepEqual(await stands(other.id), ended)
    })
  }

  test('a gateway that lists nothing, has no key, or is not configured says so', async (t) => {
    const provider = await startStripe()
    t.after(() => provider.close())
    const { signing_secret = '', secret_key = '', api_base = '' } = provider.config
    const code = async (gateway: string, config: Readonly<Record<string, string>>) => {
      await using billing = await openBilling(engine, { gateways: { stripe: config } })
      // Not without `await`: it would be closed before.
      return await codeOf(billing.core.backfill({ gateway, since: new Date() }))
    }
    assert.equal(await code('fake', {}), 'operation_unsupported')
    assert.equal(await code('nowhere', {}), 'gateway_unknown')
    assert.equal(await code('alpha', { signing_secret, api_base }), 'gateway_not_configured')
    assert.equal(await code('alpha', { secret_key, api_base }), 'gateway_not_configured')
    assert.deepEqual(provider.asked, [])
  })
})

/** The page on which the first events stand that are not stored yet. */
function pagesOfKnown(events: number): number {
  return Math.max(2, Math.floor(events / perPage) - 1)
}
