import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { hours, minutes } from '../../src/kernel/duration.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import type { MoneyContext } from '../../src/money/context.ts'
import { pollPayment } from '../../src/money/poll-payment.ts'
import { refundPayment } from '../../src/money/refund-payment.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { createPayment } from '../../src/checkout/create-payment.ts'
import { readPaymentInput } from '../../src/checkout/payment-input.ts'
import { reconcile } from '../../src/upkeep/reconcile.ts'
import { until } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { ageMoves } from '../support/id-made-at.ts'
import { type StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import { openScripted, opensAt, pollReply, refusal, type Script } from './scripted.ts'

onPostgres((engine) => {
  let billing: StatedBilling
  let script: Script
  let context: MoneyContext
  before(async () => {
    ;({ billing, script } = await openScripted(engine))
    script.open = opensAt('https://provider.example/pay')
    context = await billing.runtime.entitledContext()
  })
  after(() => billing.close())

  const behind = (length: number): MoneyContext => ({
    ...context,
    now: () => new Date(Date.now() - length),
  })
  const create = () =>
    billing.create({ gateway: 'scripted', amount: 10_000, currency: 'USD', checkout: true })
  const makeDue = ({ id }: Payment) =>
    sql`update billing.payments set next_poll_at = clock_timestamp()
      where id = ${id} or parent_id = ${id}`.execute(billing.database.db)
  /** In how many minutes each row of the payment is due, by the database's clock. */
  const dueIn = async ({ id }: { readonly id: string }) => {
    const { rows } = await sql<{ due: number }>`
      select round(extract(epoch from next_poll_at - clock_timestamp()) / 60)::int as due
      from billing.payments where id = ${id} or parent_id = ${id} order by type`.execute(
      billing.database.db,
    )
    return rows.map(({ due }) => due)
  }

  for (const [what, answer] of [
    ['answered', async () => pollReply()],
    ['refused', () => Promise.reject(refusal())],
  ] as const) {
    test(`a process whose clock is behind puts a payment off for as long as any other: ${what}`, async () => {
      const payment = await create()
      await makeDue(payment)
      script.poll = answer
      const { polled, failed } = await reconcile(behind(minutes(10)), { gateway: 'scripted' })
      assert.equal(polled + failed, 1)
      assert.deepEqual(await dueIn(payment), [6])
    })
  }

  test('what a process creates or refunds whose clock is behind is due as late as of any other', async () => {
    const { gateways } = context.processing
    const { addresses, now } = behind(minutes(10))
    const token = randomUUID()
    const isAllowedReturn = () => true
    const creation = { gateways, addresses, now, token, isAllowedReturn, searchedMetadata: [] }
    const input = readPaymentInput({
      gateway: 'scripted',
      amount: 10_000,
      currency: 'USD',
      payable: { type: 'order', id: '1' },
      checkout: true,
    })
    const { payment } = await createPayment(billing.database.db, creation, input)
    assert.deepEqual(await dueIn(payment), [5])
    await billing.sayBy('scripted', paid(payment))
    script.refund = async () => ({ status: 'pending', reference: 're_1' })
    await refundPayment(payment.id, { amount: 1_000 }, behind(minutes(10)))
    assert.equal((await dueIn(payment)).at(-1), 2)
    script.poll = async () => pollReply([], { standing: 'paid' })
    await makeDue(payment)
    await reconcile(behind(minutes(10)), { gateway: 'scripted' })
    assert.equal((await dueIn(payment)).at(-1), 6)
  })

  test('a refund that was written too long ago is not asked for', async () => {
    const { database } = context.processing
    const late: typeof database.transaction = async (work) => {
      const result = await database.transaction(work)
      await sql`update billing.payments set handed_at = handed_at - interval '6 minutes'
        where answered_at is null`.execute(database.db)
      return result
    }
    const asleep = {
      ...context,
      processing: { ...context.processing, database: { ...database, transaction: late } },
    }
    const payment = await create()
    await billing.sayBy('scripted', paid(payment))
    let asked = 0
    script.refund = async () => {
      asked += 1
      return { status: 'paid' }
    }
    await assert.rejects(refundPayment(payment.id, {}, asleep), { code: 'refund_unknown' })
    assert.equal(asked, 0)
  })

  test('no refund has failed because the clock of whoever polls it is ahead', async () => {
    const payment = await create()
    await billing.sayBy('scripted', paid(payment))
    script.refund = async () => ({ status: 'pending' })
    const refund = await billing.core.refunds.create(payment.id)
    script.poll = async () => pollReply([], { standing: 'paid', listsRefunds: true })
    await pollPayment(payment.id, behind(-hours(2)))
    assert.equal((await billing.core.payments.find(refund.id))?.status, 'pending')
  })

  test('a total waits for a refund that a process is asking for whose clock is behind', async () => {
    const payment = await create()
    await billing.sayBy('scripted', paid(payment))
    const total = { type: 'refund', status: 'paid', payment: { id: payment.id } } as const
    script.poll = async () =>
      pollReply([{ ...total, refundedTotal: 500n, currency: 'USD' }], { standing: 'paid' })
    script.refund = async () => {
      await assert.rejects(billing.core.payments.poll(payment.id), { code: 'refund_under_way' })
      return { status: 'paid', reference: 're_slow' }
    }
    await refundPayment(payment.id, { amount: 1_000 }, behind(minutes(10)))
    const details = await billing.core.payments.get(payment.id)
    assert.deepEqual(
      details?.refunds.map(({ amount, status }) => [amount, status]),
      [[1_000n, 'paid']],
    )
  })

  test('what a provider says of connections of its own ends no run', async () => {
    const [refused, answered] = [await create(), await create()]
    await Promise.all([makeDue(refused), makeDue(answered)])
    script.poll = async ({ payment }) => {
      if (payment.id === answered.id) return pollReply()
      throw new QuittanceError('provider_refused', 'the bank says: connection terminated')
    }
    const { polled, failed } = await reconcile(context, { gateway: 'scripted' })
    assert.deepEqual([polled, failed], [1, 1])
  })

  test('a run that fails half-way has looked for missing events all the same', async () => {
    const { db } = billing.database
    const [untold, asked] = [await create(), await create()]
    await billing.sayBy('scripted', paid(untold))
    await sql`delete from billing.events where payment_id = ${untold.id}`.execute(db)
    await ageMoves(db, untold)
    await makeDue(asked)
    script.poll = () =>
      Promise.reject(Object.assign(new Error('the database is gone'), { code: 'ECONNRESET' }))
    await assert.rejects(reconcile(context, { gateway: 'scripted' }), /is gone/)
    await until(async () => (await billing.events(untold)).length === 1, {
      what: 'it is dispatched',
    })
  })

  test('a run asks once after a payment with three refunds that are due', async () => {
    const payment = await create()
    await billing.sayBy('scripted', paid(payment))
    script.refund = async () => ({ status: 'pending' })
    for (const amount of [1_000, 2_000, 3_000]) {
      await billing.core.refunds.create(payment.id, { amount })
    }
    await makeDue(payment)
    script.poll = async () => {
      const isTaken = async () => (await dueIn(payment)).slice(1).every((due) => due > 0)
      await until(isTaken, { what: 'the run has taken all of them' })
      return pollReply([], { standing: 'paid' })
    }
    const { polled } = await billing.core.reconcile({ gateway: 'scripted' })
    assert.equal(polled, 1)
    assert.deepEqual((await dueIn(payment)).slice(1), [6, 6, 6])
  })

  test('a run leaves to the next one what becomes due meanwhile', async () => {
    const [one, another, later] = [await create(), await create(), await create()]
    await Promise.all([makeDue(one), makeDue(another)])
    const asked: Payment[] = []
    script.poll = async ({ payment }) => {
      // Another process, of a version that trusts its own clock.
      await Promise.all([...asked, later].map((known) => makeDue(known)))
      asked.push(payment)
      return pollReply()
    }
    const { polled } = await reconcile(context, { gateway: 'scripted', lasts: minutes(1) })
    assert.equal(polled, 2)
  })

  test('300 payments that nobody will pay keep neither a young one nor a refund waiting', async () => {
    const { db } = billing.database
    const refunded = await create()
    await billing.sayBy('scripted', paid(refunded))
    script.refund = async () => ({ status: 'pending' })
    await billing.core.refunds.create(refunded.id)
    const young = await create()
    await sql`insert into billing.payments (id, gateway, amount, currency, payable_type, payable_id,
        checkout, handed_at, next_poll_at)
      select gen_random_uuid(), 'scripted', 100, 'USD', 'order', n::text, 'open',
        statement_timestamp() - interval '2 days', statement_timestamp() - interval '1 day'
      from generate_series(1, 300) as n`.execute(db)
    await Promise.all([makeDue(refunded), makeDue(young)])
    const over = new AbortController()
    const asked: string[] = []
    script.poll = async ({ payment }) => {
      asked.push(payment.id)
      if (asked.length === 3) over.abort()
      return pollReply([], { standing: payment.id === refunded.id ? 'paid' : 'open' })
    }
    await reconcile(context, { gateway: 'scripted', signal: over.signal })
    assert.deepEqual(asked.slice(0, 2).toSorted(), [refunded.id, young.id].toSorted())
    assert.ok(asked.length >= 3, 'one of the others is asked about, too')
  })
})
