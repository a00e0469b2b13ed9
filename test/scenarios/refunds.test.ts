import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'
import { sql } from 'kysely'
import type { EventOf } from '../../src/events/catalogue.ts'
import type { ListenerContext } from '../../src/listeners/listener.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { idle, until } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid, refund, refundedTotal } from '../support/statements.ts'
import { statedCall, type Statement } from '../support/stating-gateway.ts'

type Handler = (event: EventOf<'PaymentRefunded'>, context: ListenerContext) => unknown

onAnyDatabase((engine) => {
  let stated: StatedBilling
  let handler: Handler = () => {}
  const queued: EventOf<'PaymentRefunded'>[] = []
  before(async () => {
    stated = await openStated(engine, {
      listen: ({ core }) => {
        core.on(
          'PaymentRefunded',
          'handler',
          async (event, context) => void (await handler(event, context)),
        )
        core.on('PaymentRefunded', 'queued', (event) => void queued.push(event), { queued: true })
      },
    })
  })
  afterEach(() => {
    handler = () => {}
  })
  after(() => stated.close())

  /** Fails so many times, then counts what it is told. */
  const failing = (times: number, amount?: bigint) => {
    const heard: bigint[] = []
    let left = times
    handler = ({ payment }) => {
      if (left > 0 && (amount === undefined || payment.amount === amount)) {
        left -= 1
        throw new Error('no stock')
      }
      heard.push(payment.amount)
    }
    return heard
  }

  const onceRefunded = ['PaymentSucceeded', 'PaymentRefunded']
  const transitionsOf = async (id: string) => {
    const { rows } = await sql<{ change: string }>`
      select payment_type || ': ' || from_status || ' -> ' || to_status as change
      from billing.payment_transitions where payment_id = ${id}::uuid order by id`.execute(
      stated.database.db,
    )
    return rows.map(({ change }) => change)
  }

  test('a full refund makes a row of its own, fires PaymentRefunded and leaves the charge paid', async () => {
    const payment = await stated.createPaid()
    let told: unknown
    handler = async ({ payment: row }, { tx }) => {
      const { rows } = await tx.query('select status from billing.payments where id = $1', [row.id])
      told = [row.type, row.parentId, row.amount, row.status, row.payable, rows[0]?.['status']]
    }
    const call = await stated.say(refund(payment, 're_full', { amount: 10_000n }))
    const { payable } = payment
    assert.deepEqual(told, ['refund', payment.id, 10_000n, 'paid', payable, 'paid'])
    const ofIt = () => queued.filter((event) => event.payment.parentId === payment.id)
    await until(() => ofIt().length > 0, { what: 'the queued listener is told' })
    assert.deepEqual(
      ofIt().map(({ payment: row }) => [row.type, row.amount, row.providerReference]),
      [['refund', 10_000n, 're_full']],
    )
    const { status, refunds, events, transitions } = await stated.details(payment)
    assert.equal(status, 'paid')
    assert.deepEqual(
      transitions.map(({ to }) => to),
      ['paid'],
    )
    const [row] = refunds
    assert.equal(refunds.length, 1)
    assert.deepEqual(
      [row?.type, row?.parentId, row?.status, row?.amount, row?.providerReference, row?.payable],
      ['refund', payment.id, 'paid', 10_000n, 're_full', payment.payable],
    )
    assert.deepEqual(
      events.map(({ type, paymentId, dedupKey }) => [type, paymentId, dedupKey]),
      [
        ['PaymentSucceeded', payment.id, `payment:paid:${payment.id}`],
        ['PaymentRefunded', row?.id, `refund:paid:${row?.id}`],
      ],
    )
    assert.deepEqual(
      [call.state, call.paymentId, call.needsReview],
      ['processed', payment.id, false],
    )
    assert.deepEqual(call.outcome, [{ result: 'applied', type: 'refund:paid' }])
    assert.deepEqual(await transitionsOf(row?.id ?? ''), ['refund: pending -> paid'])
  })

  const release = ({ id, amount, currency }: Payment): Statement => {
    const about = { type: 'payment', payment: { id }, status: 'canceled' } as const
    return { ...about, amount, currency, ifPaid: 'refunded' }
  }

  test('a release and the payment in one callback, or at once: paid, and gone', async () => {
    const together = await stated.create()
    await stated.say(release(together), paid(together))
    const atOnce = await stated.create()
    await Promise.all([stated.deliver(release(atOnce)), stated.deliver(paid(atOnce))])
    await stated.retry()
    const declined = await stated.create()
    await stated.say({ ...release(declined), status: 'failed', ifPaid: undefined })
    await stated.say(release(declined), paid(declined))
    for (const payment of [together, atOnce, declined]) {
      assert.equal((await stated.details(payment)).status, 'paid')
      assert.deepEqual(await stated.refunds(payment), ['paid 10000'])
    }
  })

  test('the same refund reported three times, twice of it at once, and replayed: one row, one event', async () => {
    const payment = await stated.createPaid()
    const report = refund(payment, 're_again')
    await Promise.all([1, 2].map(() => stated.core.receive(statedCall([report]))))
    await idle(stated.core)
    const call = await stated.say(report)
    assert.deepEqual(stated.resultsOf(call), ['duplicate'])
    await stated.core.calls.replay(call.id)
    await idle(stated.core)
    assert.deepEqual(await stated.refunds(payment), ['paid 1000'])
    assert.deepEqual(await stated.events(payment), onceRefunded)
  })

  test('20 identical renewals at once: one payment, one event', async () => {
    const first = await stated.createPaid({ payable: { type: 'subscription', id: randomUUID() } })
    const renewal: Statement = {
      type: 'payment',
      payment: { providerReference: 'ch_20' },
      status: 'paid',
      amount: 1_500n,
      currency: 'EUR',
      renews: { id: first.id },
    }
    const calls = Array.from({ length: 20 }, () => statedCall([renewal]))
    const answers = await Promise.all(calls.map((call) => stated.core.receive(call)))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    await idle(stated.core)
    const { data } = await stated.core.payments.list({ payable: first.payable })
    const [second, ...others] = data.filter(({ id }) => id !== first.id)
    assert.ok(second)
    assert.deepEqual(others, [])
    assert.deepEqual(await stated.events(second), ['PaymentSucceeded'])
  })

  /** Delivers, and waits for the first attempt to fail. */
  const deliverFailing = async (...statements: readonly Statement[]) => {
    await stated.deliver(...statements)
    const [call] = (await stated.core.calls.list({ limit: 1 })).data
    assert.ok(call)
    return stated.attempted(call, 1)
  }

  test('running totals: a second refund between the attempts of the first; each fires once', async () => {
    const payment = await stated.createPaid()
    const heard = failing(1, 1_000n)
    await deliverFailing(refundedTotal(payment, 1_000n))
    assert.deepEqual(await stated.refunds(payment), ['paid 1000'], 'the row is kept')
    await stated.deliver(refundedTotal(payment, 1_700n))
    await until(() => heard.length === 1, { what: 'the second is told' })
    await stated.retry()
    assert.deepEqual(heard, [700n, 1_000n])
    assert.deepEqual(await stated.refunds(payment), ['paid 1000', 'paid 700'])
    assert.deepEqual(await stated.events(payment), [...onceRefunded, 'PaymentRefunded'])
  })

  test('paid, refunded and a card in one callback: one transaction, all results, all events', async () => {
    const payment = await stated.create()
    const heard = failing(1)
    const attached = { type: 'payment_method', status: 'attached' } as const
    const { id } = await deliverFailing(paid(payment), refund(payment, `re_${payment.id}`), {
      ...attached,
      reference: `pm_${payment.id}`,
      payment: { id: payment.id },
    })
    assert.deepEqual(await stated.events(payment), [], 'no claim of the callback is kept')
    await stated.retry()
    const ended = await stated.core.calls.get(id)
    assert.deepEqual(ended?.outcome, [
      { result: 'applied', type: 'payment:paid' },
      { result: 'applied', type: 'refund:paid' },
      { result: 'applied', type: 'payment_method:attached' },
    ])
    assert.equal(ended?.dedupClaims.length, 3)
    assert.deepEqual(heard, [1_000n])
    assert.deepEqual((await stated.events(payment)).toSorted(), [
      'PaymentMethodAttached',
      'PaymentRefunded',
      'PaymentSucceeded',
    ])
  })

  test('the history and the checks of the database refuse what the state table refuses', async () => {
    const payment = await stated.createPaid()
    await stated.say(refund(payment, 're_checked'))
    const [row] = (await stated.details(payment)).refunds
    const write = (id: string, type: string, to: string) =>
      sql`
      insert into billing.payment_transitions
        (id, payment_id, payment_type, from_status, to_status, cause)
      values (${randomUUID()}::uuid, ${id}::uuid, ${type}, 'paid', ${to}, 'call')`.execute(
        stated.database.db,
      )
    const refused = { code: '23514' }
    for (const to of ['pending', 'failed', 'canceled']) {
      await assert.rejects(write(payment.id, 'charge', to), refused)
    }
    for (const to of ['pending', 'canceled', 'paid']) {
      await assert.rejects(write(row?.id ?? '', 'refund', to), refused)
    }
  })
})
