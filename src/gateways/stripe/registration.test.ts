import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startStandIn } from '../../../test/support/stand-in.ts'
import { parseJsonBody } from '../body/parse-json-body.ts'
import { listOf, startApi } from '../../../test/gateways/stripe/api.ts'
import { otherId, paymentId } from '../../../test/gateways/stripe/events.ts'
import {
  nowSeconds,
  refundOf,
  startOperations,
  paymentOf,
} from '../../../test/gateways/stripe/operations.ts'
import { failureOf } from '../../../test/providers/kit.ts'
import { stripe } from './index.ts'

const { registration, backfill } = stripe
assert.ok(registration && backfill)

async function allOf<T>(pages: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = []
  for await (const page of pages) found.push(page)
  return found
}

const url = 'https://pay.shop.example/billing/webhooks/stripe'

test('exactly the events that say something are asked for, and Stripe has them all', async () => {
  const { events } = registration
  assert.equal(new Set(events).size, events.length)
  for (const type of [
    'checkout.session.completed',
    'customer.subscription.updated',
    'invoice.finalized',
  ]) {
    assert.ok(events.includes(type), type)
  }
  for (const type of ['payment_intent.processing', 'invoice_payment.paid', '*']) {
    assert.ok(!events.includes(type), type)
  }
  const declared = import.meta
    .resolve('stripe')
    .replace(/[^/]+$/, 'resources/WebhookEndpoints.d.ts')
  const types = readFileSync(new URL(declared), 'utf8')
  for (const type of events) assert.match(types, new RegExp(`'${type.replaceAll('.', '\\.')}'`))
  const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8')
  const [, section = ''] = readme.split('## What to register')
  const [listed = ''] = section.split('\n## ')
  for (const type of events) {
    const short = type.slice(type.lastIndexOf('.'))
    assert.ok(listed.includes(`\`${type}\``) || listed.includes(`\`${short}\``), type)
  }
})

test('an endpoint is made with our events and version, and tells its secret once', async () => {
  await using started = await startOperations()
  const context = started.context()
  const made = await registration.create(url, context)
  const { secret, ...endpoint } = made
  assert.deepEqual(endpoint, {
    id: made.id,
    url,
    events: registration.events,
    enabled: true,
    apiVersion: '2026-10-28.endive',
  })
  assert.equal(registration.apiVersion, '2026-10-28.endive')
  assert.equal(secret?.reveal(), `whsec_of_${made.id}`)
  assert.doesNotMatch(JSON.stringify(made), /whsec_/)
  assert.ok(registration.secretField in stripe.credentials)
  const [request] = started.changes()
  assert.deepEqual(Object.keys(request?.[1] ?? {}).toSorted(), [
    'api_version',
    'description',
    ...registration.events.map((_event, index) => `enabled_events[${index}]`).toSorted(),
    'url',
  ])
  assert.deepEqual(await registration.list(context), [endpoint])
})

test('an endpoint gets another address and our events, is switched on, and is removed', async () => {
  await using started = await startOperations()
  const context = started.context()
  const old = await started.official.webhookEndpoints.create({
    url: 'https://old.shop.example/',
    enabled_events: ['charge.succeeded'],
    api_version: '2026-10-28.endive',
  })
  await started.official.webhookEndpoints.update(old.id, {
    url: 'https://old.shop.example/',
    enabled_events: ['charge.succeeded'],
    disabled: true,
  })
  assert.partialDeepStrictEqual(await registration.list(context), [{ enabled: false }])
  const updated = await registration.update(old.id, url, context)
  assert.deepEqual(updated, {
    id: old.id,
    url,
    events: registration.events,
    enabled: true,
    apiVersion: '2026-10-28.endive',
  })
  await registration.remove(old.id, context)
  assert.deepEqual(await registration.list(context), [])
  assert.deepEqual(await failureOf(registration.remove(old.id, context)), {
    code: 'provider_refused',
    providerCode: 'resource_missing',
  })
})

test('an endpoint that is not what was asked for is refused', async () => {
  await using started = await startOperations()
  const right = { id: 'we_1', url, enabled_events: ['*'], status: 'enabled', api_version: null }
  const ask = async (object: object) => {
    await using api = await startApi({
      '/v1/webhook_endpoints': object,
      '/v1/webhook_endpoints?limit=100': listOf([object]),
      '/v1/webhook_endpoints/we_1': object,
    })
    const context = started.context({ api_base: api.standIn.base })
    const tried = [
      () => registration.create(url, context),
      () => registration.list(context),
      () => registration.update('we_1', url, context),
      () => registration.remove('we_1', context),
    ]
    const codes: unknown[] = []
    for (const attempt of tried) {
      codes.push(
        await attempt().then(
          () => 'done',
          (error: unknown) => (error as { code?: string }).code,
        ),
      )
    }
    return codes
  }
  const bad = 'provider_reply_invalid'
  assert.deepEqual(await ask({ ...right, secret: 'whsec_1' }), ['done', 'done', 'done', bad])
  assert.deepEqual(await ask(right), [bad, 'done', 'done', bad])
  assert.deepEqual(await ask({ ...right, id: 'we_2', secret: 'x' }), ['done', 'done', bad, bad])
  for (const wrong of [{ id: 'cs_1' }, { url: null }, { enabled_events: [1] }]) {
    assert.deepEqual(await ask({ ...right, secret: 'x', ...wrong }), [bad, bad, bad, bad])
  }
  await assert.rejects(registration.remove('we_1/../../customers', started.context()), {
    code: bad,
  })
  const removed = { ...right, secret: 'x', deleted: true }
  assert.equal((await ask(removed)).at(-1), 'done')
  assert.equal((await ask({ ...removed, id: 'we_2' })).at(-1), bad)
})

test('every past event comes once, as its callback carried it', async () => {
  await using started = await startOperations({ mostPerPage: 2 })
  const { standIn } = started
  for (const id of [paymentId, otherId]) {
    await started.open({ payment: paymentOf({ id }), saveCard: true })
    standIn.decline(id)
    standIn.paySlowly(id)
    standIn.pay(id)
  }
  await started.refund(refundOf(100n))
  const pages = await allOf(backfill.list(new Date((nowSeconds - 60) * 1000), started.context()))
  assert.ok(pages.length > 3 && pages.every((page) => page.length > 0 && page.length <= 2))
  const found = pages.flat()
  const handled = standIn.events.filter(({ type }) => registration.events.includes(type))
  assert.ok(handled.length < standIn.events.length, 'some say nothing')
  assert.deepEqual(found.map(({ id }) => id).toSorted(), handled.map(({ id }) => id).toSorted())
  for (const { id, at, body } of found) {
    assert.equal(backfill.eventIdOf(body), id)
    assert.equal(at.getTime(), nowSeconds * 1000)
    assert.deepEqual(
      JSON.parse(body),
      JSON.parse(JSON.stringify(handled.find((event) => event.id === id))),
    )
    const outcomes = await stripe.interpret(parseJsonBody(Buffer.from(body)), started.context())
    assert.ok(outcomes.length > 0)
  }
})

test('past events are asked for by all our types, at most 20 at a time, and newest first', async () => {
  await using started = await startOperations()
  const { standIn } = started
  await started.open()
  standIn.decline(paymentId)
  standIn.pay(paymentId)
  const since = new Date((nowSeconds - 3600) * 1000)
  const found = (await allOf(backfill.list(since, started.context()))).flat()
  const queries = standIn.asked
    .filter(({ asking }) => asking === 'events')
    .map(({ request }) => new URL(request.target, 'http://stripe.example').searchParams)
  const types = queries.map((query) =>
    Array.from(query)
      .filter(([name]) => name.startsWith('types['))
      .map(([, type]) => type),
  )
  assert.deepEqual(types.flat(), registration.events)
  assert.ok(types.length > 1 && types.every((run) => run.length <= 20))
  for (const query of queries) assert.equal(query.get('created[gte]'), String(nowSeconds - 3600))
  const order = found.map(({ id }) => standIn.events.findIndex((event) => event.id === id))
  assert.deepEqual(
    order,
    order.toSorted((one, other) => other - one),
  )
  const official = await started.official.events.list({
    types: types[0] ?? [],
    created: { gte: nowSeconds - 3600 },
    limit: 100,
  })
  assert.deepEqual(
    official.data.map(({ id }) => id),
    found.map(({ id }) => id),
  )
  const late = new Date((nowSeconds + 1) * 1000)
  assert.deepEqual(await allOf(backfill.list(late, started.context())), [])
})

test('numbers of a past event keep their text, and its other values their meaning', async () => {
  const text =
    '{"id":"evt_1","created":1790000000,"n":[1.10,-0,1e400,12345678901234567890],' +
    '"t":"\\"ї\\u0000\\ud800","o":{"2":null,"1":true},"type":"invoice.paid"}'
  await using api = await startApi(
    Object.fromEntries(
      [0, 20].map((from) => {
        const types = registration.events
          .slice(from, from + 20)
          .map((type, index) => `&types[${index}]=${type}`)
        const query = `limit=40&created[gte]=0${types.join('')}`
        const data = from === 0 ? text : ''
        return [`/v1/events?${query}`, `{"object":"list","data":[${data}],"has_more":false}`]
      }),
    ),
  )
  await using started = await startOperations()
  const context = started.context({ api_base: api.standIn.base })
  const [page, ...more] = await allOf(backfill.list(new Date(0), context))
  assert.deepEqual(more, [])
  assert.deepEqual(page, [{ id: 'evt_1', at: new Date(1_790_000_000_000), body: text }])
})

test('the id of an event is read from its callback’s text', () => {
  const cases = [
    ['{"id":"evt_1","object":"event"}', 'evt_1'],
    ['{\n  "object": "event",\n  "id": "evt_2"\n}', 'evt_2'],
    ['{"id":"pi_1"}', undefined],
    ['{"id":1}', undefined],
    ['{"data":{"id":"evt_1"}}', undefined],
    ['[]', undefined],
    ['evt_1', undefined],
    ['', undefined],
  ] as const
  for (const [body, id] of cases) assert.equal(backfill.eventIdOf(body), id, body)
})

test('what is no event, and a listing that fails, stop the backfill', async () => {
  await using started = await startOperations()
  const list = (api_base?: string) =>
    allOf(backfill.list(new Date(0), started.context(api_base === undefined ? {} : { api_base })))
  const target = /^\/v1\/events/
  for (const event of [{ id: 'pi_1', created: 1 }, { id: 'evt_1' }, { created: 1 }]) {
    const api = await startStandIn((request) =>
      target.test(request.target) ? { body: listOf([event]) } : undefined,
    )
    assert.equal((await failureOf(list(api.base))).code, 'provider_reply_invalid')
    await api.close()
  }
  started.standIn.misbehave('events', 'refuse')
  assert.equal((await failureOf(list())).code, 'provider_refused')
})
