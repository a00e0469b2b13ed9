import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertIgnored,
  contextOf,
  event,
  interpret,
  paymentId,
  renewal,
  renewedOutcome,
  subscriptionId,
  transaction,
  transactionId,
  type Fields,
} from '../../../test/gateways/paddle/events.ts'
import { managed } from '../../../test/gateways/paddle/subscriptions.ts'

const actions = ['created', 'imported', 'trialing', 'activated', 'updated']
const others = ['past_due', 'paused', 'resumed', 'canceled']

/** Nobody answers there, and nothing is asked. */
const withKey = contextOf('http://127.0.0.1:9')
const told = (action: string, entity: unknown, context = withKey) =>
  interpret(event(`subscription.${action}`, entity), context)

test("each event of a subscription names it, and says nothing of the subscription's state", async () => {
  for (const action of [...actions, ...others]) {
    const outcome = await told(action, managed({ status: 'canceled' }))
    assert.deepEqual(outcome, { type: 'subscription', reference: subscriptionId }, action)
  }
})

test('case 46: the payment that began it is named by its transaction, never by custom data', async () => {
  const change = { type: 'subscription', reference: subscriptionId }
  const named = await told('created', managed({ transaction_id: transactionId }))
  assert.deepEqual(named, { ...change, payment: { checkoutReference: transactionId } })
  for (const transaction_id of [null, undefined, paymentId, 'sub_1', 'txn_', 7, [transactionId]]) {
    const custom_data = { payment_id: paymentId, transaction_id: transactionId }
    assert.deepEqual(await told('created', managed({ transaction_id, custom_data })), change)
  }
})

test('case 49: without an API key nothing can be asked, so that a change is ignored', async () => {
  for (const action of [...actions, ...others]) {
    const outcome = await told(action, managed(), contextOf())
    assertIgnored(outcome, 'unhandled_event', `subscription.${action}`)
  }
})

test('a subscription of another form is malformed_payload, and no case for a person', async () => {
  for (const data of [null, undefined, [], 'x', managed({ id: 'txn_1' }), managed({ id: null })]) {
    assertIgnored(await told('updated', data), 'malformed_payload')
  }
})

const period = {
  startsAt: new Date('2026-02-28T10:00:00.123Z'),
  endsAt: new Date('2026-03-31T10:00:00.123Z'),
}
const billing_period = {
  starts_at: '2026-02-28T10:00:00.123456Z',
  ends_at: '2026-03-31T10:00:00.123456Z',
}

test('a charge says which period it is for, whether it is paid or not', async () => {
  const { claimed: _, ...unclaimed } = renewedOutcome
  const of = (type: string, fields: Fields) =>
    interpret(event(`transaction.${type}`, renewal({ billing_period, ...fields })))
  assert.deepEqual(await of('completed', {}), { ...unclaimed, period })
  const declined = { status: 'past_due', payments: [{ status: 'error' }] }
  const failed = { ...unclaimed, period, status: 'failed' }
  assert.deepEqual(await of('payment_failed', declined), failed)
  assert.deepEqual(await of('past_due', declined), failed)
  const canceled = await of('canceled', { status: 'canceled' })
  assert.deepEqual(canceled, { ...unclaimed, period, status: 'canceled' })
  const first = transaction({ billing_period, subscription_id: subscriptionId })
  const begun = await interpret(event('transaction.completed', first))
  assert.ok(begun.type === 'payment')
  assert.deepEqual([begun.period, begun.subscriptionReference], [period, subscriptionId])
})

test('a period that cannot be read as a whole is left out', async () => {
  const { starts_at, ends_at } = billing_period
  const odd = [
    null,
    undefined,
    [],
    'x',
    {},
    { starts_at },
    { ends_at },
    { starts_at: ends_at, ends_at: starts_at },
    { starts_at, ends_at: starts_at },
    { starts_at, ends_at: '2026-03-31' },
    { starts_at, ends_at: '2026-13-31T10:00:00Z' },
    { starts_at, ends_at: 1774951200 },
  ]
  for (const value of odd) {
    const outcome = await interpret(event('transaction.paid', renewal({ billing_period: value })))
    assert.ok(outcome.type === 'payment')
    assert.equal('period' in outcome, false, JSON.stringify(value))
  }
})

test('an overdue invoice that nobody has tried to pay is no decline', async () => {
  const overdue = transaction({ status: 'past_due', payments: [], collection_mode: 'manual' })
  assertIgnored(await interpret(event('transaction.past_due', overdue)), 'no_outcome')
})
