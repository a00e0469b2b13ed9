import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SubscriptionStatement } from '../../subscriptions/statement.ts'
import { isJsonObject } from '../body/json.ts'
import { parseJson } from '../body/parse-json.ts'
import { startApi } from '../../../test/gateways/stripe/api.ts'
import {
  assertIgnored,
  event,
  interpret,
  paymentId,
  session,
  type Fields,
} from '../../../test/gateways/stripe/events.ts'
import { statementOf } from './read-subscription.ts'

const start = 1_790_000_000
const end = 1_792_592_000
const at = (seconds: number) => new Date(seconds * 1000)
const inMonth = { current_period_start: start, current_period_end: end }

const item = (price: Fields = {}, fields: Fields = {}): Fields => ({
  id: 'si_1',
  ...inMonth,
  quantity: 1,
  ...fields,
  price: {
    billing_scheme: 'per_unit',
    currency: 'uah',
    recurring: { interval: 'month', interval_count: 1, usage_type: 'licensed' },
    transform_quantity: null,
    unit_amount: 1900,
    ...price,
  },
})

const subscription = (fields: Fields = {}): Fields => ({
  id: 'sub_1',
  object: 'subscription',
  cancel_at: null,
  cancel_at_period_end: false,
  currency: 'uah',
  items: { data: [item()] },
  metadata: { payment_id: paymentId },
  schedule: null,
  status: 'active',
  trial_end: null,
  ...fields,
})

function read(fields: Fields = {}): SubscriptionStatement | undefined {
  const parsed = parseJson(JSON.stringify(subscription(fields)))
  assert.ok(parsed.ok && isJsonObject(parsed.value))
  return statementOf(parsed.value, { failure: null, live: false, account: undefined })
}

const ofItems = (...data: readonly Fields[]) => read({ items: { data } })

test('each status of Stripe’s is one of ours', () => {
  const cases = [
    ['incomplete', { status: 'incomplete' }],
    ['incomplete_expired', { status: 'canceled' }],
    ['trialing', { status: 'trialing' }],
    ['active', { status: 'active' }],
    ['past_due', { status: 'past_due' }],
    ['unpaid', { status: 'past_due', hasGivenUp: true }],
    ['paused', { status: 'paused', pauseReason: 'requested' }],
    ['canceled', { status: 'canceled' }],
  ] as const
  for (const [status, expected] of cases) {
    const { status: found, hasGivenUp, pauseReason } = read({ status }) ?? {}
    const given = { ...(hasGivenUp && { hasGivenUp }), ...(pauseReason && { pauseReason }) }
    assert.deepEqual({ status: found, ...given }, expected)
  }
  for (const status of ['ACTIVE', 'brand_new', 'toString', null]) {
    assert.equal(read({ status }), undefined)
  }
})

test('a pause says whether it was wished, and one of collection is none', () => {
  const paused = (type: unknown) =>
    read({ status: 'paused', status_details: { paused: { subscription: { type } } } })?.pauseReason
  assert.equal(paused('first_payment_failure'), 'payment_failed')
  assert.equal(paused('final_payment_failure'), 'payment_failed')
  for (const reason of ['pause_requested', 'trial_end_without_payment_method', 'system', null]) {
    assert.equal(paused(reason), 'requested')
  }
  const collection = read({ pause_collection: { behavior: 'void', resumes_at: null } })
  assert.deepEqual(collection, read())
})

test('the period is that of its items; in the old layout, its own', () => {
  const period = { startsAt: at(start), endsAt: at(end) }
  assert.deepEqual(read()?.currentPeriod, period)
  const bare = item({}, { current_period_start: undefined, current_period_end: undefined })
  assert.deepEqual(read({ items: { data: [bare] }, ...inMonth })?.currentPeriod, period)
  assert.equal(ofItems(bare)?.currentPeriod, null)
  for (const status of ['paused', 'canceled', 'incomplete_expired']) {
    assert.equal(read({ status })?.currentPeriod, null)
  }
})

test('what is planned is stated while it is ahead', () => {
  assert.deepEqual(read({ cancel_at_period_end: true })?.cancelAt, at(end))
  assert.deepEqual(read({ cancel_at: end + 9 })?.cancelAt, at(end + 9))
  const both = { cancel_at: end, cancel_at_period_end: true }
  assert.deepEqual(read(both)?.cancelAt, at(end))
  const over = read({ ...both, status: 'canceled', ended_at: end, canceled_at: start })
  assert.deepEqual([over?.cancelAt, over?.endedAt], [null, at(end)])
  const unknown = read({ status: 'canceled', ended_at: null, canceled_at: start })
  assert.deepEqual(unknown?.endedAt, at(start))
  const plan = (type: string) => ({
    schedule: {
      id: 'sub_sched_1',
      pause_schedules: [
        {
          pause: { pause_at: end, status: { type } },
          resume: { resume_at: end + 9, status: { type } },
        },
      ],
    },
  })
  const planned = read(plan('scheduled'))
  assert.deepEqual([planned?.pauseAt, planned?.resumeAt], [at(end), at(end + 9)])
  for (const fields of [plan('succeeded'), plan('error'), { schedule: 'sub_sched_1' }]) {
    const done = read(fields)
    assert.deepEqual([done?.pauseAt, done?.resumeAt], [null, null])
  }
})

test('a fixed price is stated to the unit', () => {
  const other = item({ unit_amount: 250 }, { quantity: 4 })
  const all = ofItems(item(), other)
  assert.deepEqual([all?.amount, all?.currency], [2900n, 'UAH'])
  assert.deepEqual(all?.every, { unit: 'month', count: 1 })
  const quarter = { interval: 'month', interval_count: 3, usage_type: 'licensed' }
  assert.deepEqual(ofItems(item({ recurring: quarter }))?.every, { unit: 'month', count: 3 })
})

test('what has no fixed price is left out, so that the price is never stated too high', () => {
  const metered = { interval: 'month', interval_count: 1, usage_type: 'metered' }
  const vague = [
    item({ recurring: metered }),
    item({ billing_scheme: 'tiered', unit_amount: null }),
    item({ unit_amount: null, unit_amount_decimal: '0.5' }),
    item({ transform_quantity: { divide_by: 10, round: 'up' } }),
    item({}, { quantity: undefined }),
    item({ unit_amount: -5 }),
    // A price of several currencies, of which the payer has another one.
    item({ currency: 'usd' }),
  ]
  for (const one of vague) {
    assert.equal(ofItems(item(), one)?.amount, 1900n, JSON.stringify(one))
    assert.equal(ofItems(one)?.amount, 0n, JSON.stringify(one))
  }
  const most = item({ unit_amount: Number.MAX_SAFE_INTEGER }, { quantity: 3 })
  assert.equal(ofItems(most)?.amount, BigInt(Number.MAX_SAFE_INTEGER))
})

test('of mixed intervals the shortest counts, with its period', () => {
  const yearly = item(
    {
      recurring: { interval: 'year', interval_count: 1, usage_type: 'licensed' },
      unit_amount: 90_000,
    },
    { current_period_end: end + 99 },
  )
  for (const items of [
    [yearly, item()],
    [item(), yearly],
  ]) {
    const stated = ofItems(...items)
    assert.deepEqual([stated?.amount, stated?.every.unit], [1900n, 'month'])
    assert.deepEqual(stated?.currentPeriod?.endsAt, at(end))
  }
  const days = item({
    recurring: { interval: 'day', interval_count: 1000, usage_type: 'licensed' },
  })
  assert.deepEqual(ofItems(days)?.every, { unit: 'day', count: 366 })
})

test('what is not worded as Stripe words it is no statement', () => {
  const wrong = [
    { id: 'si_1' },
    { currency: 'UAH' },
    { items: null },
    { items: { data: [] } },
    { items: { data: [item({ recurring: null })] } },
    { items: { data: [item({ recurring: { interval: 'decade', interval_count: 1 } })] } },
  ]
  for (const fields of wrong) assert.equal(read(fields), undefined, JSON.stringify(fields))
})

test('the payment of ours is the one that its metadata name, and nothing else names one', () => {
  assert.deepEqual(read()?.payment, { id: paymentId })
  for (const metadata of [{}, null, { payment_id: 'order-7' }, { payment_id: null }]) {
    const stated = read({ metadata, client_reference_id: paymentId })
    assert.ok(stated && !('payment' in stated))
  }
})

const changes = [
  'created',
  'updated',
  'deleted',
  'paused',
  'resumed',
  'trial_will_end',
  'pending_update_applied',
  'pending_update_expired',
]
const changed = { type: 'subscription', reference: 'sub_1', live: false } as const

test('each event of a subscription rings, and nothing of its copy counts but whose it is', async () => {
  await using api = await startApi({})
  for (const change of changes) {
    const type = `customer.subscription.${change}`
    const told = await api.interpret(event(type, subscription({ status: 'canceled' })))
    assert.deepEqual(told, [{ ...changed, payment: { id: paymentId } }])
    const bound = event(type, subscription({ metadata: { payment_id: 'order-7' } }), {
      account: 'acct_1',
    })
    assert.deepEqual(await api.interpret(bound), [{ ...changed, merchantAccount: 'acct_1' }])
    const [wrong] = await api.interpret(event(type, subscription({ id: 'si_1' })))
    assertIgnored(wrong, 'malformed_payload', 'data.object.id')
  }
  assert.deepEqual(api.asked(), [])
})

test('case 49: without a key for its mode nobody can be asked, so nothing rings', async () => {
  const told = event('customer.subscription.updated', subscription())
  assertIgnored(await interpret(told), 'no_outcome', 'subscription: STRIPE_SECRET_KEY is not set')
  await using api = await startApi({}, 'sk_live_0123456789')
  const [other] = await api.interpret(told)
  assertIgnored(other, 'no_outcome')
})

test('a completed checkout rings for the subscription that it has begun', async () => {
  await using api = await startApi({})
  const fields = {
    mode: 'subscription',
    payment_intent: null,
    invoice: 'in_1',
    subscription: 'sub_1',
  }
  const completed = (more: Fields = {}) =>
    api.interpret(event('checkout.session.completed', session({ ...fields, ...more })))
  const [paid, change, ...others] = await completed()
  assert.partialDeepStrictEqual(paid, { status: 'paid', subscriptionReference: 'sub_1' })
  assert.deepEqual([change, others], [changed, []])
  const trial = await completed({ payment_status: 'no_payment_required', amount_total: 0 })
  assert.partialDeepStrictEqual(trial, [{ status: 'paid', amount: 0n }, changed])
  const slow = await completed({ payment_status: 'unpaid' })
  assert.deepEqual(slow[1], changed)
  assert.equal((await completed({ subscription: null })).length, 1)
})

test('a try after the first, and one that waits for its payer, ring as well', async () => {
  const parent = { subscription_details: { subscription: 'sub_1', metadata: {} } }
  const invoice = { id: 'in_1', object: 'invoice', status: 'open', parent, currency: 'uah' }
  await using api = await startApi({})
  const told = (type: string, fields: Fields = {}) =>
    api.interpret(event(type, { ...invoice, billing_reason: 'subscription_cycle', ...fields }))
  assert.deepEqual((await told('invoice.payment_failed')).at(-1), changed)
  assert.deepEqual(await told('invoice.payment_action_required'), [changed])
  const [stranger] = await told('invoice.payment_action_required', { parent: null })
  assertIgnored(stranger, 'no_outcome', 'invoice.payment_action_required')
})
