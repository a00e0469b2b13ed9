import assert from 'node:assert/strict'
import { test } from 'node:test'
import { happen } from '../../../test/providers/paddle/account.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { PastEvent } from '../operations.ts'
import { paddleBackfill as backfill } from './backfill.ts'
import {
  event,
  interpretText,
  paidOutcome,
  paymentId,
  transaction,
} from '../../../test/gateways/paddle/events.ts'
import { answering, opened, startProviderFor } from '../../../test/gateways/paddle/operations.ts'
import { failureOf } from '../../../test/providers/kit.ts'

async function pagesSince(since: Date, context: OperationContext) {
  const pages: (readonly PastEvent[])[] = []
  for await (const page of backfill.list(since, context)) pages.push(page)
  return pages
}

const longAgo = new Date(0)

test('past events are what the callbacks carried, oldest first, each once', async (t) => {
  const { provider, context } = await startProviderFor(t)
  await opened(context, { description: 'Кава "2"' })
  provider.decline(paymentId)
  happen(provider.account, 'customer.created', { id: 'ctm_1' })
  provider.pay(paymentId)
  const callback = provider.paymentCallback(paymentId)
  provider.refundByHand(paymentId, 100n)
  provider.account.pageLimit = 2
  const pages = await pagesSince(longAgo, context)
  assert.deepEqual(
    pages.map((page) => page.length),
    [2, 2, 1],
  )
  const types = pages
    .flat()
    .map(({ body }) => (JSON.parse(body) as { event_type: string }).event_type)
  assert.deepEqual(types, [
    'transaction.payment_failed',
    'transaction.paid',
    'transaction.completed',
    'adjustment.created',
    'adjustment.updated',
  ])
  const completed = pages.flat()[2]
  assert.ok(completed)
  const { notification_id: _, ...told } = JSON.parse(callback.body) as Record<string, unknown>
  assert.deepEqual(JSON.parse(completed.body), told)
  assert.deepEqual(Object.keys(JSON.parse(completed.body) as object), Object.keys(told))
  assert.equal(completed.id, backfill.eventIdOf(callback.body))
  assert.equal(completed.at.toISOString(), told.occurred_at)
  const outcome = await interpretText(completed.body)
  assert.deepEqual(outcome, await interpretText(callback.body))
  assert.ok(outcome.type === 'payment' && outcome.status === 'paid')
})

test('only events of our types and since that time are told', async (t) => {
  const { provider, context, official } = await startProviderFor(t)
  await opened(context)
  provider.pay(paymentId)
  assert.deepEqual(await pagesSince(new Date(Date.now() + 60_000), context), [])
  const target = new URL(provider.asked.at(-1)?.request.target ?? '', provider.base)
  const types = [
    'transaction.completed,transaction.paid,transaction.payment_failed,transaction.canceled',
    'transaction.past_due,transaction.billed',
    'adjustment.created,adjustment.updated,payment_method.saved,payment_method.deleted',
    'subscription.created,subscription.imported,subscription.trialing,subscription.activated',
    'subscription.updated,subscription.past_due,subscription.paused,subscription.resumed',
    'subscription.canceled',
  ].join(',')
  assert.deepEqual(Object.fromEntries(target.searchParams), {
    event_type: types,
    order_by: 'id[ASC]',
    per_page: '100',
  })
  const seen: string[] = []
  for await (const one of official.events.list({ orderBy: 'id[ASC]', perPage: 200 })) {
    seen.push(one.eventType)
  }
  assert.deepEqual(seen, ['transaction.created', 'transaction.paid', 'transaction.completed'])
})

const listed = (events: readonly object[]) => ({
  data: events,
  meta: { pagination: { has_more: false } },
})

test('numbers, texts and nulls are passed on as Paddle wrote them', async (t) => {
  const data =
    '{"id":"txn_1","n":1.10,"big":12345678901234567890,"s":"\\u0000\\"é","l":[true,null,[]]}'
  const times = '"event_type":"transaction.paid","occurred_at":"2026-11-20T11:59:58.123456789Z"'
  const text = `{"data":[{"event_id":"evt_1",${times},"data":${data}}],"meta":{"pagination":{"has_more":false}}}`
  const { context } = await answering(t, () => ({ body: text }))
  const [[past] = []] = await pagesSince(longAgo, context)
  const shown = data.replace('\\u0000\\"é', '\\u0000\\"é')
  assert.equal(past?.body, `{"data":${shown},"event_id":"evt_1",${times}}`)
  assert.equal(past?.at.getTime(), Date.parse('2026-11-20T11:59:58.123Z'))
})

test('what happened at that very moment counts, and what Paddle should not have listed does not', async (t) => {
  const at = '2026-11-20T11:59:58Z'
  const happened = (type: string, occurred_at: string) =>
    event(type, transaction(), { occurred_at })
  const events = [
    happened('transaction.paid', '2026-11-20T11:59:57.999Z'),
    happened('transaction.paid', at),
    happened('customer.created', at),
  ]
  const { context } = await answering(t, () => ({ body: listed(events) }))
  const pages = await pagesSince(new Date(at), context)
  assert.deepEqual(
    pages.map((page) => page.length),
    [1],
  )
  const outcome = await interpretText(pages[0]?.[0]?.body ?? '')
  assert.deepEqual(outcome, paidOutcome)
})

test('an event without an id or a time is told as such', async (t) => {
  for (const fields of [
    { event_id: 'x' },
    { event_id: null },
    { occurred_at: 'soon' },
    { occurred_at: null },
  ]) {
    const one = event('transaction.paid', transaction(), fields)
    const { context } = await answering(t, () => ({ body: listed([one]) }))
    const failure = await failureOf(pagesSince(longAgo, context))
    assert.equal(failure.code, 'provider_reply_invalid', JSON.stringify(fields))
  }
})

test('the id of a callback is read, and of nothing else', () => {
  const id = 'evt_01m2z7q4w9e6r8t5y3u1i0o7pf'
  assert.equal(backfill.eventIdOf(JSON.stringify(event('transaction.paid', {}))), id)
  for (const body of ['', 'no JSON', '[]', '{}', '{"event_id":7}', '{"event_id":"txn_1"}']) {
    assert.equal(backfill.eventIdOf(body), undefined, body)
  }
  assert.equal(backfill.keptFor, 90 * 24 * 3_600_000)
})

test('a list that breaks off fails, after the pages that came', async (t) => {
  const { provider, context } = await startProviderFor(t)
  await opened(context)
  provider.pay(paymentId)
  provider.account.pageLimit = 1
  provider.misbehave('events', 'late', 'refuse')
  const pages: unknown[] = []
  const reading = async () => {
    for await (const page of backfill.list(longAgo, context)) pages.push(page)
  }
  assert.equal((await failureOf(reading())).code, 'provider_refused')
  assert.equal(pages.length, 1)
})
