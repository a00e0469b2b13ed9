import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationContext } from '../interpret-context.ts'
import {
  answering,
  bodyOf,
  contextOf,
  startProviderFor,
} from '../../../test/gateways/paddle/operations.ts'
import { failureOf } from '../../../test/providers/kit.ts'
import { paddle } from './index.ts'
import { paddleRegistration as registration } from './registration.ts'

const url = 'https://pay.example/billing/webhooks/paddle'
const events = [
  'transaction.completed',
  'transaction.paid',
  'transaction.payment_failed',
  'transaction.canceled',
  'transaction.past_due',
  'transaction.billed',
  'adjustment.created',
  'adjustment.updated',
  'payment_method.saved',
  'payment_method.deleted',
  'subscription.created',
  'subscription.imported',
  'subscription.trialing',
  'subscription.activated',
  'subscription.updated',
  'subscription.past_due',
  'subscription.paused',
  'subscription.resumed',
  'subscription.canceled',
]

test('the events are those that something is done with', async () => {
  assert.deepEqual(registration.events, events)
  const { credentials, log, signal } = contextOf({ api_key: 'pdl_sdbx_apikey_of_a_test' })
  for (const type of events) {
    const payload = paddle.parse({
      headers: {},
      body: Buffer.from(JSON.stringify({ event_type: type })),
    })
    const [outcome] = await paddle.interpret(payload, { credentials, log, signal })
    // What is billed needs no payment of ours: nothing about it is of interest but its document.
    const reason = type === 'transaction.billed' ? 'no_outcome' : 'malformed_payload'
    assert.ok(outcome?.type === 'ignored' && outcome.reason === reason, type)
  }
})

test('a destination is made, changed and removed as the official package does it', async (t) => {
  const { provider, context, official } = await startProviderFor(t)
  const made = await registration.create(url, context)
  const { secret, ...shown } = made
  assert.deepEqual(shown, { id: made.id, url, events, enabled: true, apiVersion: '1' })
  assert.match(secret?.reveal() ?? '', /^pdl_ntfset_/)
  const fields = {
    destination: url,
    subscribedEvents: [...events] as 'transaction.paid'[],
    apiVersion: 1,
    trafficSource: 'platform',
  } as const
  const theirs = await official.notificationSettings.create({
    ...fields,
    description: 'Quittance',
    type: 'url',
  })
  const moved = 'https://else.example/billing/webhooks/paddle'
  const updated = await registration.update(made.id, moved, context)
  assert.deepEqual({ ...updated, secret: undefined }, { ...shown, url: moved, secret: undefined })
  assert.equal(updated.secret?.reveal(), secret?.reveal())
  await official.notificationSettings.update(theirs.id, {
    ...fields,
    destination: moved,
    active: true,
  })
  await registration.remove(made.id, context)
  await official.notificationSettings.delete(theirs.id)
  const asked = provider.asked.map(({ request }) => [request.method, bodyOf(request)])
  assert.deepEqual(asked[0], asked[1])
  assert.deepEqual(asked[2], asked[3])
  assert.deepEqual(asked[4], ['DELETE', null])
  assert.deepEqual(asked[4], asked[5])
  assert.deepEqual(await registration.list(context), [])
})

test('an update switches a destination on again and gives it all of our events', async (t) => {
  const { provider, context, official } = await startProviderFor(t)
  const made = await official.notificationSettings.create({
    description: 'By hand',
    type: 'url',
    destination: url,
    subscribedEvents: ['transaction.created'],
    apiVersion: 1,
    trafficSource: 'all',
  })
  await official.notificationSettings.update(made.id, { active: false })
  const [before] = await registration.list(context)
  assert.deepEqual([before?.enabled, before?.events], [false, ['transaction.created']])
  const after = await registration.update(made.id, url, context)
  assert.deepEqual([after.enabled, after.events], [true, events])
  const held = provider.account.endpoints.get(made.id)
  assert.equal(
    new Map<string, unknown>(Object.entries(held ?? {})).get('traffic_source'),
    'platform',
  )
})

test('the list is read to its end, and leaves out e-mail addresses', async (t) => {
  const { provider, context } = await startProviderFor(t)
  for (const path of ['a', 'b', 'c']) {
    await registration.create(`https://pay.example/${path}`, context)
  }
  const [first] = provider.account.endpoints.values()
  assert.ok(first)
  const email = { ...first, id: provider.account.newId('ntfset'), destination: 'x@pay.example' }
  provider.account.endpoints.set(email.id, Object.assign(email, { type: 'email' }))
  provider.account.pageLimit = 2
  const urls = (await registration.list(context)).map((endpoint) => endpoint.url)
  assert.deepEqual(urls, [
    'https://pay.example/a',
    'https://pay.example/b',
    'https://pay.example/c',
  ])
  assert.equal(provider.asked.filter(({ request }) => request.method === 'GET').length, 2)
})

test('Paddle refuses an eleventh destination, and to change one that is gone', async (t) => {
  const { context } = await startProviderFor(t)
  for (let count = 0; count < 10; count += 1) {
    await registration.create(`https://pay.example/${count}`, context)
  }
  const full = await failureOf(registration.create(url, context))
  assert.deepEqual(
    [full.code, full.providerCode],
    ['provider_refused', 'notification_maximum_active_settings_reached'],
  )
  const id = 'ntfset_01000000000000000000009999'
  const gone = await failureOf(registration.update(id, url, context))
  assert.deepEqual([gone.code, gone.providerCode], ['provider_refused', 'not_found'])
  await registration.remove(id, context)
})

test('an id goes into a path as one segment', async (t) => {
  const { api, context } = await answering(t, () => ({ status: 204, body: '' }))
  await registration.remove('../transactions/txn_1', context)
  assert.equal(api.requests[0]?.target, '/notification-settings/..%2Ftransactions%2Ftxn_1')
})

const calls: Readonly<Record<string, (context: OperationContext) => Promise<unknown>>> = {
  list: (context) => registration.list(context),
  create: (context) => registration.create(url, context),
  update: (context) => registration.update('ntfset_1', url, context),
  remove: (context) => registration.remove('ntfset_1', context),
}

test('an outage, a refusal, nonsense and a missing key are told apart', async (t) => {
  const { provider, context } = await startProviderFor(t)
  const { api_key: _, ...keyless } = provider.config
  for (const [name, call] of Object.entries(calls)) {
    provider.misbehave('endpoints', 'refuse', 'garbled')
    assert.equal((await failureOf(call(context))).code, 'provider_refused', name)
    assert.equal((await failureOf(call(context))).code, 'provider_reply_invalid', name)
    const unset = await failureOf(call(contextOf(keyless)))
    assert.equal(unset.code, 'gateway_not_configured', name)
    if (name === 'list') continue
    provider.misbehave('endpoints', 'down')
    assert.equal((await failureOf(call(context))).code, 'provider_unreachable', name)
  }
})

test('a destination without an id, a URL or events is told as such', async (t) => {
  const good = { id: 'ntfset_1', type: 'url', destination: url, subscribed_events: [] }
  for (const fields of [{ id: 7 }, { destination: null }, { subscribed_events: null }]) {
    const { context } = await answering(t, () => ({ body: { data: { ...good, ...fields } } }))
    const failure = await failureOf(registration.create(url, context))
    assert.equal(failure.code, 'provider_reply_invalid')
  }
  const { context } = await answering(t, () => ({ body: { data: good } }))
  const bare = { id: 'ntfset_1', url, events: [], enabled: false, apiVersion: null }
  assert.deepEqual(await registration.create(url, context), bare)
})
