import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import type { TimelineEntry } from '../../src/index.ts'
import type { Timeline } from '../../src/inspect/timeline.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { onlyOpens, openScripted, pollReply, type Script } from '../money/scripted.ts'
import { bothVariable, embedded, onBothDatabases } from '../support/databases.ts'
import type { StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import { until } from '../support/until.ts'

onBothDatabases((engine) => {
  let billing: StatedBilling
  let script: Script
  let grant: () => void = () => {}
  let mail: () => void = () => {}

  before(async () => {
    const opened = await openScripted(engine, {
      listen: ({ core }) => {
        core.on('PaymentSucceeded', 'grant', () => grant())
        core.on('PaymentSucceeded', 'mail', () => mail(), { queued: true })
      },
    })
    billing = opened.billing
    script = opened.script
  })
  after(() => billing.close())
  beforeEach(() => {
    grant = () => {}
    mail = () => {}
    onlyOpens(script)
  })

  const order = () =>
    billing.core.payments.create({
      gateway: 'scripted',
      amount: 1_000,
      currency: 'USD',
      payable: { type: 'order', id: '42' },
    })
  const timeline = async (id: string): Promise<Timeline> =>
    (await billing.core.inspect.timeline(id)) ?? assert.fail('there is no timeline')
  const dueNow = () =>
    sql`update billing.deferred_events set next_attempt_at = clock_timestamp()
      where state = 'pending'`.execute(billing.database.db)
  const shown = (entry: TimelineEntry): string => {
    switch (entry.kind) {
      case 'call':
        return [
          'call',
          entry.state,
          ...(entry.isDuplicate ? ['duplicate'] : []),
          ...entry.moves.map(({ from, to }) => `${from} -> ${to}`),
        ].join(' ')
      case 'transition':
        return `${entry.isRefund ? 'refund' : 'payment'} ${entry.from} -> ${entry.to} by ${entry.cause}`
      case 'failed_attempt':
        return `attempt ${entry.attempt} of ${entry.listener}: ${entry.error}`
      case 'delivery':
        return `delivery to ${entry.listener} ${entry.state} after ${entry.attempts}`
      case 'asked':
        return `${entry.operation} ${entry.result} x${entry.times}`
      case 'event':
      case 'browser':
        return `${entry.kind} ${entry.eventType}`
      case 'operator':
        return `${entry.operator}: ${entry.action}, ${entry.outcome}`
      case 'created':
      case 'deferred':
      case 'refund':
      case 'dispute':
      case 'review':
      case 'review_handled':
        break
    }
    return entry.kind
  }

  test('the history of a payment is one list: what callbacks, polls, listeners and people did', async () => {
    const { core } = billing
    const payment = await order()
    await core.payments.signal('PaymentLinkOpened', payment)
    await billing.sayBy('scripted', { ...paid(payment), status: 'failed' })
    script.poll = async () => pollReply()
    for (const _ of [1, 2, 3]) await core.payments.poll(payment.id)
    let attempts = 0
    mail = () => {
      attempts += 1
      if (attempts === 1) throw new Error('no mail\nat all')
    }
    const call = await billing.sayBy('scripted', paid(payment))
    await until(
      async () => {
        await dueNow()
        return attempts === 2 && (await timeline(payment.id)).entries.some(isDelivered)
      },
      { what: 'it is delivered' },
    )
    await billing.sayBy('scripted', paid(payment))
    const actionId = newUuid()
    await core.operators.recordAction({
      id: actionId,
      operator: 'ops-1',
      via: 'console',
      action: 'refund_payment',
      subject: payment.id,
      detail: { amount: '500' },
    })
    script.refund = async () => ({ status: 'paid', refundReference: 're_1' })
    const refund = await core.refunds.create(payment.id, { amount: 500 })
    await core.operators.endAction(actionId, 'done')
    const { entries, truncated, payment: charge } = await timeline(payment.id)
    assert.deepEqual(entries.map(shown), [
      'created',
      'checkout answered x1',
      'browser PaymentLinkOpened',
      'call processed pending -> failed',
      'event PaymentFailed',
      'poll answered x3',
      'call processed failed -> paid',
      'event PaymentSucceeded',
      'attempt 1 of mail: Error: no mail',
      'delivery to mail processed after 1',
      'call processed duplicate',
      'ops-1: refund_payment, done',
      'refund',
      'refund answered x1',
      'refund pending -> paid by refund',
      'event PaymentRefunded',
    ])
    assert.equal(truncated, false)
    assert.equal(charge.id, payment.id)
    const moved = entries.find((entry) => entry.kind === 'call' && entry.callId === call.id)
    assert.ok(moved?.kind === 'call' && moved.durationMs !== null)
    assert.deepEqual(await timeline(refund.id), await timeline(payment.id))
  })

  const isDelivered = (entry: TimelineEntry) =>
    entry.kind === 'delivery' && entry.state === 'processed'

  // The history has read every table of the embedded database already.
  if (engine === embedded && process.env[bothVariable] !== 'both') return

  test('what failed stands with its attempts, and an event that waits for its listener as deferred', async () => {
    grant = () => {
      throw new Error('no grant')
    }
    const payment = await order()
    script.poll = async () =>
      pollReply([{ type: 'payment', payment, status: 'paid', amount: 1_000n, currency: 'USD' }])
    await billing.core.payments.poll(payment.id)
    const { entries } = await timeline(payment.id)
    const deferred = entries.find((entry) => entry.kind === 'deferred')
    assert.equal(deferred?.eventType, 'PaymentSucceeded')
    const texts = new Set(entries.map(shown))
    assert.ok(texts.has('payment pending -> paid by poll'))
    assert.ok(texts.has('attempt 1 of grant: Error: no grant'))
    const attempt = entries.find((entry) => entry.kind === 'failed_attempt')
    assert.equal(attempt?.deliveryId, deferred?.deliveryId)
  })

  test('a call whose listener throws stands with what it moved, and with its failed attempt', async () => {
    grant = () => {
      throw new Error('deadlock')
    }
    const payment = await billing.create()
    await billing.deliver(paid(payment))
    const [call] = (await billing.core.calls.list({ limit: 1 })).data
    await billing.attempted({ id: call?.id ?? '' }, 1)
    const { entries } = await timeline(payment.id)
    assert.deepEqual(entries.map(shown), [
      'created',
      'call pending pending -> paid',
      'attempt 1 of grant: Error: deadlock',
    ])
    const attempt = entries.find((entry) => entry.kind === 'failed_attempt')
    assert.deepEqual(attempt?.groups, ['callbacks', 'listeners', 'problems'])
    assert.equal(attempt?.callId, call?.id)
    grant = () => {}
    await billing.retry()
  })

  test('disputes and reviews stand where they were found, and where a person has looked', async () => {
    const payment = await order()
    await billing.sayBy('scripted', paid(payment))
    await billing.sayBy('scripted', {
      type: 'dispute',
      payment: { id: payment.id },
      reference: 'dp_1',
      status: 'open',
      amount: 1_000n,
      currency: 'USD',
    })
    const [review] = (await billing.core.reviews.list({ paymentId: payment.id })).data
    assert.ok(review)
    await billing.core.reviews.handle(review.id, { operator: 'ops-1', note: 'ticket 881' })
    const { entries } = await timeline(payment.id)
    const dispute = entries.find((entry) => entry.kind === 'dispute')
    assert.deepEqual([dispute?.reference, dispute?.status], ['dp_1', 'open'])
    const found = entries.find((entry) => entry.kind === 'review')
    assert.deepEqual(
      [found?.reviewId, found?.reason, found?.callId],
      [review.id, 'dispute_open', review.webhookCallId],
    )
    const handled = entries.find((entry) => entry.kind === 'review_handled')
    assert.deepEqual([handled?.operator, handled?.note], ['ops-1', 'ticket 881'])
    const times = entries.map(({ at }) => at.getTime())
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    )
  })

  test('of more than 200 of a kind the newest are shown, and it says so', async () => {
    const payment = await order()
    await billing.sayBy('scripted', paid(payment))
    const { db } = billing.database
    const copy = (count: number) =>
      sql`
      insert into billing.payment_activity (id, payment_id, operation, result, duration_ms, created_at)
      select gen_random_uuid(), ${payment.id}::uuid, 'poll', 'answered', number, now()
      from generate_series(1, ${count}::int) as number`.execute(db)
    await copy(199)
    assert.equal((await timeline(payment.id)).truncated, false)
    await copy(1)
    const { entries, truncated } = await timeline(payment.id)
    assert.equal(truncated, true)
    assert.equal(entries.filter(({ kind }) => kind === 'asked').length, 200)
    assert.equal(entries.filter(({ kind }) => kind === 'call').length, 1)
  })

  test('an id that no payment has, or that is none, has no timeline', async () => {
    assert.equal(await billing.core.inspect.timeline(newUuid()), undefined)
    assert.equal(await billing.core.inspect.timeline('42'), undefined)
  })
})
