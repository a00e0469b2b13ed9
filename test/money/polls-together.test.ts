import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import { after, before, beforeEach, test } from 'node:test'
import timers from 'node:timers/promises'
import { sql } from 'kysely'
import type { PollReply, PollTogether } from '../../src/gateways/operations.ts'
import { minutes } from '../../src/kernel/duration.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import type { Outcome } from '../../src/payments/outcome.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { onPostgres } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import { stating } from '../support/stating-gateway.ts'
import { until } from '../support/until.ts'
import { opensAt, pollReply, refusal, scriptedGateway, type Script } from './scripted.ts'

// A provider that says in one request how several payments stand: one that it does not tell of, or
// does not answer about, is polled as ever.

const perMinute = 24_000

onPostgres((engine) => {
  let billing: StatedBilling
  const script: Script = {}
  let answer: PollTogether['ask']
  /** The payments of each request about several, and of each about one. */
  let together: string[][] = []
  let alone: string[] = []
  before(async () => {
    const listing = {
      ...scriptedGateway(script),
      pollsPerMinute: perMinute,
      pollTogether: {
        most: 30,
        ask: async (...asked: Parameters<typeof answer>) => {
          together.push(asked[0].map(({ payment }) => payment.id))
          return answer(...asked)
        },
      },
    }
    billing = await openStated(engine, { extraGateways: [stating, listing] })
  })
  beforeEach(async () => {
    await forgetDue()
    together = []
    alone = []
    answer = async (requests) => new Map(requests.map(({ payment }) => [payment.id, pollReply()]))
    script.open = opensAt('https://provider.example/pay')
    script.poll = async ({ payment }) => {
      alone.push(payment.id)
      return pollReply()
    }
  })
  after(() => billing.close())

  const forgetDue = () =>
    sql`update billing.payments set next_poll_at = null`.execute(billing.database.db)
  const create = () =>
    billing.create({ gateway: 'scripted', amount: 10_000, currency: 'USD', checkout: true })
  const makeDue = (...payments: readonly Payment[]) =>
    sql`update billing.payments set next_poll_at = clock_timestamp() - interval '1 minute'
      where id = any(${idsOf(payments)}::uuid[])
        or parent_id = any(${idsOf(payments)}::uuid[])`.execute(billing.database.db)
  const createDue = async (count: number): Promise<Payment[]> => {
    const { rows } = await sql<{ id: string }>`
      insert into billing.payments (id, gateway, amount, currency, payable_type, payable_id,
        checkout, checkout_reference, handed_at, next_poll_at)
      select id, 'scripted', 10000, 'USD', 'order', '1', 'open', 'checkout-' || id,
        statement_timestamp(), statement_timestamp()
      from (select gen_random_uuid() as id from generate_series(1, ${count}::int)) as made
      returning id`.execute(billing.database.db)
    return Promise.all(rows.map(billing.details))
  }
  /** In how many minutes each is due again, each length once. */
  const dueIn = async (payments: readonly Payment[]) => {
    const { rows } = await sql<{ due: number }>`
      select distinct round(extract(epoch from next_poll_at - clock_timestamp()) / 60)::int as due
      from billing.payments where id = any(${idsOf(payments)}::uuid[])`.execute(billing.database.db)
    return rows.map(({ due }) => due)
  }
  const counted = async () => {
    const { rows } = await sql<{ n: number }>`select coalesce(sum(times), 0)::int as n
      from billing.payment_activity where operation = 'poll'`.execute(billing.database.db)
    return rows[0]?.n ?? 0
  }
  const reconcile = () => billing.core.reconcile({ gateway: 'scripted' })
  const sayings = (said: Readonly<Record<string, PollReply>>) => async () =>
    new Map(Object.entries(said))

  test('thirty open payments are polled by one request, and each is due as after a poll of its own', async () => {
    const payments = await createDue(30)
    const before = await counted()
    const { polled, failed } = await reconcile()
    assert.deepEqual([polled, failed, alone], [30, 0, []])
    assert.deepEqual(
      together.map((ids) => ids.toSorted()),
      [idsOf(payments).toSorted()],
    )
    assert.deepEqual(await dueIn(payments), [6])
    // The history of each says what was answered about it.
    assert.equal((await counted()) - before, 30)
  })

  test('more than one request takes are asked about by a second one', async () => {
    await createDue(33)
    assert.equal((await reconcile()).polled, 33)
    assert.deepEqual([together.map((ids) => ids.length), alone], [[30, 3], []])
  })

  test('a request about several is one in the pace of the provider, and so is one about what it lacks', async (t) => {
    const [lacking] = (await createDue(33)) as [Payment]
    const usual = answer
    answer = async (...asked) => {
      const said = new Map(await usual(...asked))
      said.delete(lacking.id)
      return said
    }
    let paused = 0
    const pause = timers.setTimeout
    const watched = t.mock.method(timers, 'setTimeout', async (ms?: number) => {
      if (ms === 60_000 / perMinute) paused += 1
      await pause(ms)
    })
    syncBuiltinESMExports()
    const { polled } = await reconcile()
    watched.mock.restore()
    syncBuiltinESMExports()
    assert.deepEqual([polled, together.length, alone.length, paused], [33, 2, 1, 3])
  })

  test('a checkout that is to be closed asks once more, so its payment is polled alone', async () => {
    const [ended, canceled, unclosable] = (await createDue(3)) as [Payment, Payment, Payment]
    await sql`update billing.payments set expires_at = handed_at - interval '1 hour'
      where id in (${ended.id}, ${unclosable.id})`.execute(billing.database.db)
    await sql`update billing.payments set status = 'canceled', checkout = 'closed'
      where id = ${canceled.id}`.execute(billing.database.db)
    const usual = answer
    answer = async (...asked) =>
      new Map(await usual(...asked)).set(unclosable.id, pollReply([], { unclosable: true }))
    const closed: string[] = []
    script.closeCheckout = async ({ payment }) => {
      closed.push(payment.id)
      return 'closed'
    }
    assert.equal((await reconcile()).polled, 3)
    assert.deepEqual(alone.toSorted(), idsOf([ended, canceled]).toSorted())
    assert.deepEqual(closed.toSorted(), alone.toSorted())
    assert.equal((await billing.details(unclosable)).status, 'canceled')
  })

  test('what is said together moves each payment by the rules of a poll, whatever the order', async () => {
    const [open, charged, over] = (await createDue(3)) as [Payment, Payment, Payment]
    answer = sayings({
      [over.id]: pollReply([stated(over, 'failed')]),
      [charged.id]: pollReply([stated(charged, 'paid')], { standing: 'paid' }),
      [open.id]: pollReply(),
    })
    assert.equal((await reconcile()).changed, 2)
    const statuses = [open, charged, over].map(async (one) => (await billing.details(one)).status)
    assert.deepEqual(await Promise.all(statuses), ['pending', 'paid', 'failed'])
    assert.deepEqual(await billing.events(charged), ['PaymentSucceeded'])
    assert.deepEqual(alone, [])
  })

  test('one that the answer lacks is polled alone, and only that poll finds it absent', async () => {
    const payments = await createDue(3)
    const [lacking, ...others] = payments as [Payment, ...Payment[]]
    answer = sayings(Object.fromEntries(others.map(({ id }) => [id, pollReply()])))
    script.poll = async ({ payment }) => {
      alone.push(payment.id)
      return pollReply([], { standing: 'absent' })
    }
    assert.equal((await reconcile()).polled, 3)
    assert.deepEqual(alone, [lacking.id])
    const errors = payments.map(async (one) => (await billing.details(one)).pollError)
    assert.deepEqual(await Promise.all(errors), [
      'needs a review: the provider does not know what it has named itself',
      null,
      null,
    ])
  })

  test('what is said of a payment that was not asked about counts for nothing', async () => {
    const [stranger] = (await createDue(1)) as [Payment]
    await forgetDue()
    const payments = await createDue(2)
    const lie = pollReply([stated(stranger, 'paid')], { standing: 'paid' })
    answer = sayings({ [stranger.id]: lie })
    await reconcile()
    assert.deepEqual(alone.toSorted(), idsOf(payments).toSorted())
    assert.equal((await billing.details(stranger)).status, 'pending')
  })

  test('what names another payment than the one it is said of is not taken: each is polled alone', async () => {
    const [open, over] = (await createDue(2)) as [Payment, Payment]
    await sql`update billing.payments set handed_at = handed_at - interval '1 hour'
      where id in (${open.id}, ${over.id})`.execute(billing.database.db)
    answer = sayings({
      [open.id]: pollReply([stated(over, 'failed')], { standing: 'unpaid' }),
      [over.id]: pollReply([{ ...stated(open, 'failed'), payment: byCheckout(open) }]),
    })
    await reconcile()
    assert.deepEqual(alone.toSorted(), idsOf([open, over]).toSorted())
    const statuses = [open, over].map(async (one) => (await billing.details(one)).status)
    assert.deepEqual(await Promise.all(statuses), ['pending', 'pending'])
  })

  for (const [what, fail] of [
    ['answers 500', () => new QuittanceError('provider_unreachable', 'status 500')],
    ['refuses', refusal],
    ['answers something else', () => new QuittanceError('provider_reply_invalid', 'no list')],
    ['is asked by a gateway that is at fault', () => new TypeError('no Map')],
    [
      'ends the connection, as a gateway says that has its own client',
      () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }),
    ],
  ] as const) {
    test(`where the provider ${what}, each is polled alone, and no more is asked together in this run`, async () => {
      const payments = await createDue(32)
      answer = () => Promise.reject(fail())
      const { polled, failed } = await reconcile()
      assert.deepEqual([polled, failed, together.length], [32, 0, 1])
      assert.deepEqual(alone.toSorted(), idsOf(payments).toSorted())
      assert.deepEqual(await dueIn(payments), [6])
      await createDue(2)
      await reconcile()
      assert.equal(together.length, 2)
    })
  }

  test('a provider that is down is left alone after three requests, whatever they were about', async () => {
    const payments = await createDue(8)
    const away = () => Promise.reject(new QuittanceError('provider_unreachable', 'down'))
    answer = away
    // One after another, so that none is under way when it is over.
    let last = Promise.resolve()
    script.poll = ({ payment }) => {
      alone.push(payment.id)
      const turn = last.then(away)
      last = turn.catch(() => {})
      return turn
    }
    const { failed, unreachable } = await reconcile()
    assert.deepEqual(unreachable, ['scripted'])
    assert.equal(failed, alone.length)
    assert.ok(alone.length < payments.length)
    // The others were not taken: they are as due as before.
    const { rows } = await sql<{ due: number }>`select count(*)::int as due from billing.payments
      where next_poll_at < clock_timestamp()`.execute(billing.database.db)
    assert.equal(rows[0]?.due, payments.length - alone.length)
  })

  test('a run that the database ends has ended what is under way', async (t) => {
    const [slow, cursed] = (await createDue(2)) as [Payment, Payment]
    const { db } = billing.database
    // The youngest is taken first.
    await sql`update billing.payments set handed_at = handed_at - interval '1 second'
      where id = ${cursed.id}`.execute(db)
    await sql`create sequence billing.cursed`.execute(db)
    await sql`create function billing.curse() returns trigger language plpgsql as $$ begin
      perform nextval('billing.cursed');
      raise exception 'no room' using errcode = '53100';
    end $$`.execute(db)
    await sql`create trigger curse before update on billing.payments for each row
      when (old.id = ${sql.lit(cursed.id)}) execute function billing.curse()`.execute(db)
    t.after(async () => {
      await sql`drop function billing.curse cascade`.execute(db)
      await sql`drop sequence billing.cursed`.execute(db)
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    answer = async () => new Map()
    script.poll = async () => {
      await promise
      return pollReply()
    }
    const run = assert.rejects(reconcile(), /no room/)
    const isCursed = async () => {
      const { rows } = await sql`select 1 from billing.cursed where is_called`.execute(db)
      return rows.length > 0
    }
    await until(isCursed, { what: 'the second is taken' })
    resolve()
    await run
    assert.deepEqual(await dueIn([slow]), [6])
  })

  test('a run that is stopped while they are asked about takes none of them', async () => {
    const payments = await createDue(3)
    const over = new AbortController()
    const usual = answer
    answer = async (...asked) => {
      over.abort()
      return usual(...asked)
    }
    const run = { gateway: 'scripted', signal: over.signal, lasts: minutes(1) }
    assert.equal((await billing.core.reconcile(run)).polled, 0)
    assert.ok((await dueIn(payments)).every((due) => due <= 0))
  })

  test('what another process has polled meanwhile is not polled again', async () => {
    const [mine, theirs] = (await createDue(2)) as [Payment, Payment]
    const usual = answer
    answer = async (...asked) => {
      await billing.core.payments.poll(theirs.id)
      return usual(...asked)
    }
    assert.equal((await reconcile()).polled, 1)
    assert.deepEqual([alone, await dueIn([mine])], [[theirs.id], [6]])
  })

  test('a payment that is paid before an older answer is used stays paid, without a review', async () => {
    const [charged] = (await createDue(2)) as [Payment, Payment]
    answer = async (requests) => {
      await billing.sayBy('scripted', paid(charged))
      return new Map(
        requests.map(({ payment }) => [payment.id, pollReply([stated(payment, 'failed')])]),
      )
    }
    await reconcile()
    const { status, pollError } = await billing.details(charged)
    assert.deepEqual([status, pollError], ['paid', null])
    assert.deepEqual(await billing.events(charged), ['PaymentSucceeded'])
  })

  test('a refund, a checkout that the provider has not named and a single payment are polled alone', async () => {
    const refunded = await create()
    await billing.sayBy('scripted', paid(refunded))
    script.refund = async () => ({ status: 'pending' })
    await billing.core.refunds.create(refunded.id)
    const unnamed = await create()
    await makeDue(refunded, unnamed)
    const [single] = (await createDue(1)) as [Payment]
    await sql`update billing.payments set next_poll_at = null
      where id = ${refunded.id}`.execute(billing.database.db)
    assert.equal((await reconcile()).polled, 3)
    assert.deepEqual(together, [])
    assert.deepEqual(alone.toSorted(), idsOf([refunded, unnamed, single]).toSorted())
  })
})

function stated({ id, amount, currency }: Payment, status: 'paid' | 'failed'): Outcome {
  return { type: 'payment', payment: { id }, status, amount, currency }
}

function byCheckout({ checkoutReference }: Payment) {
  assert.ok(checkoutReference !== null)
  return { checkoutReference }
}

function idsOf(payments: readonly Payment[]): string[] {
  return payments.map(({ id }) => id)
}
