import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { listFailedAttempts } from '../../src/database/failed-attempts.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import type { PaymentDetails } from '../../src/wire/payment-details.ts'
import { opensAt, openScripted, pollReply, refusal, type Script } from '../money/scripted.ts'
import { onAnyDatabase } from '../support/databases.ts'
import type { StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import { until } from '../support/until.ts'

const apiSecret = 'sk_live_never_shown_0123456789'

onAnyDatabase((engine) => {
  let billing: StatedBilling
  let script: Script
  let listener: () => void = () => {}

  before(async () => {
    const opened = await openScripted(engine, {
      gateways: { stripe: { signing_secret: apiSecret } },
      listen: ({ core }) => core.on('PaymentSucceeded', 'grant', () => listener()),
    })
    billing = opened.billing
    script = opened.script
    script.open = opensAt('https://provider.example/pay')
  })
  after(() => billing.close())
  beforeEach(() => {
    listener = () => {}
  })

  const order = (gateway: string) =>
    billing.core.payments.create({
      gateway,
      amount: 100,
      currency: 'USD',
      payable: { type: 'order', id: '1' },
      ...(gateway === 'stating' && { checkout: false }),
    })
  const dueNow = (table: 'webhook_calls' | 'deferred_events') =>
    sql`update ${sql.table(`billing.${table}`)} set next_attempt_at = clock_timestamp()
      where state = 'pending'`.execute(billing.database.db)
  const asked = ({ activity }: PaymentDetails) =>
    activity.map(({ operation, result, detail, times }) =>
      [operation, result, detail ?? '-', times].join(' '),
    )

  test('each attempt at a call says why it failed; a replay begins anew, and pruning takes them', async () => {
    const { core, database } = billing
    const payment = await order('stating')
    let attempt = 0
    listener = () => {
      attempt += 1
      throw new Error(`grant ${attempt} with ${apiSecret}`)
    }
    await billing.deliver(paid(payment))
    const [stored] = (await core.calls.list({ limit: 1 })).data
    const id = stored?.id ?? ''
    for (const done of [1, 2, 3]) {
      await billing.attempted({ id }, done)
      if (done < 3) await dueNow('webhook_calls')
    }
    await core.calls.replay(id)
    await billing.attempted({ id }, 1)
    const call = await core.calls.get(id)
    assert.deepEqual(
      call?.failedAttempts.map((failed) => [failed.attempt, failed.listener]),
      [1, 2, 3, 1].map((number) => [number, 'grant']),
    )
    const texts = call?.failedAttempts.map(({ exception }) => exception.split('\n')[0])
    assert.match(texts?.[0] ?? '', /^in listener grant: Error: grant 1 with /)
    assert.match(texts?.[3] ?? '', /grant 4/)
    assert.ok(!JSON.stringify(call).includes(apiSecret))
    listener = () => {}
    await billing.retry()
    const [kept] = (await core.calls.list({ limit: 1 })).data
    assert.equal(kept?.state, 'processed')
    assert.equal((await core.calls.get(id))?.failedAttempts.length, 4)
    await sql`update billing.failed_attempts
      set id = overlay(id::text placing '018bcfe5-0000' from 1 for 13)::uuid
      where call_id = ${id}::uuid and attempt < 3`.execute(database.db)
    await core.prune()
    const left = (await core.calls.get(id))?.failedAttempts ?? []
    assert.deepEqual(
      left.map((failed) => failed.attempt),
      [3],
    )
  })

  test('the first failure of an event that is deferred is kept, as those of its retries are', async () => {
    const { core, database } = billing
    listener = () => {
      throw new Error('no grant')
    }
    const payment = await order('scripted')
    script.poll = async () =>
      pollReply([{ type: 'payment', payment, status: 'paid', amount: 100n, currency: 'USD' }])
    await core.payments.poll(payment.id)
    const deferred = async () => {
      await dueNow('deferred_events')
      return (await core.payments.get(payment.id))?.deferredEvents[0]
    }
    await until(async () => (await deferred())?.state === 'failed', { what: 'it has failed' })
    const failed = await listFailedAttempts(database.db, {
      deliveryId: (await deferred())?.id ?? '',
    })
    assert.deepEqual(
      failed.map(({ attempt, listener: name }) => [attempt, name]),
      [1, 2, 3].map((number) => [number, 'grant']),
    )
  })

  test('what a provider was asked of a payment is kept in order; equal answers in a row are one', async () => {
    const { core } = billing
    const payment = await order('scripted')
    script.poll = async () => pollReply()
    for (let poll = 0; poll < 3; poll += 1) await core.payments.poll(payment.id)
    delete script.poll
    await core.payments.poll(payment.id).catch(() => {})
    script.poll = async () => pollReply()
    await core.payments.poll(payment.id)
    script.poll = async () =>
      pollReply([{ type: 'payment', payment, status: 'paid', amount: 100n, currency: 'USD' }])
    await core.payments.poll(payment.id)
    script.refund = async () => {
      throw refusal()
    }
    await core.refunds.create(payment.id).catch(() => {})
    const details = await core.payments.get(payment.id)
    assert.ok(details)
    assert.deepEqual(asked(details), [
      'checkout answered - 1',
      'poll answered open 3',
      'poll unreachable nothing is scripted 1',
      'poll answered open 1',
      'poll answered open, payment paid 1',
      'refund refused the provider says no 1',
    ])
    const polls = details.activity[1]
    assert.ok(polls && polls.lastAt >= polls.firstAt && polls.durationMs >= 0)
    assert.deepEqual(details.toJSON().activity[1]?.times, 3)
  })

  test('a refusal that contains a secret is kept without it', async () => {
    const { core } = billing
    const payment = await order('scripted')
    script.poll = async () => {
      throw new QuittanceError('provider_refused', `key ${apiSecret} is not known`)
    }
    await core.payments.poll(payment.id).catch(() => {})
    const details = await core.payments.get(payment.id)
    assert.ok(details)
    assert.ok(details.activity.some(({ result }) => result === 'refused'))
    assert.ok(!JSON.stringify(details.activity).includes(apiSecret))
  })
})
