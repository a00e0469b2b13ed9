import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paymentId } from '../../../test/gateways/paddle/events.ts'
import {
  answering,
  opened,
  pollOf,
  startProviderFor,
} from '../../../test/gateways/paddle/operations.ts'
import { failureOf } from '../../../test/providers/kit.ts'
import { pollPayment } from './poll.ts'

const empty = { data: [], meta: { pagination: { has_more: false } } }

test('the list is asked about the time of the handing over, and no other', async (t) => {
  const { provider, context } = await startProviderFor(t)
  const handedAt = new Date('2026-11-20T12:00:00Z')
  const reply = await pollPayment(pollOf({}, handedAt), context)
  assert.equal(reply.standing, 'absent')
  assert.equal(reply.listsRefunds, false)
  const target = provider.asked[0]?.request.target ?? ''
  assert.deepEqual(Object.fromEntries(new URL(target, provider.base).searchParams), {
    'created_at[GTE]': '2026-11-20T11:50:00.000Z',
    'created_at[LTE]': '2026-11-20T13:10:00.000Z',
    origin: 'api',
    order_by: 'id[ASC]',
    per_page: '30',
  })
  await opened(context)
  const early = await pollPayment(pollOf({}, new Date(Date.now() + 3_600_000)), context)
  assert.equal(early.standing, 'absent')
})

test('the official package reads the same lists', async (t) => {
  const { provider, context, official } = await startProviderFor(t)
  const mine = await opened(context)
  provider.pay(paymentId)
  for (let count = 0; count < 3; count += 1) provider.refundByHand(paymentId, 10n)
  provider.account.pageLimit = 2
  const from = new Date(Date.now() - 60_000).toISOString()
  const found: unknown[] = []
  const list = official.transactions.list({
    'createdAt[GTE]': from,
    origin: ['api'],
    orderBy: 'id[ASC]',
    perPage: 30,
  })
  for await (const one of list) found.push(one.customData)
  assert.deepEqual(found, [{ payment_id: paymentId }])
  const transactionIds = [mine.checkoutReference ?? '']
  const totals: unknown[] = []
  for await (const one of official.adjustments.list({ transactionId: transactionIds })) {
    totals.push(one.totals?.total)
  }
  assert.deepEqual(totals, ['10', '10', '10'])
  assert.equal((await official.transactions.get(mine.checkoutReference ?? '')).status, 'completed')
})

test('pages that lead nowhere, in a circle or to another host are told as such', async (t) => {
  const pagination = (next: unknown, has_more: unknown = true) => ({
    pagination: { next, has_more },
  })
  const other = await answering(t, () => ({ body: empty }))
  const cases: readonly (readonly [object, string])[] = [
    [{ data: [] }, 'no pagination'],
    [{ data: [], meta: pagination(null) }, 'no next page'],
    [{ data: [], meta: pagination('https://x.example/transactions?after=../x') }, 'no cursor'],
    [{ data: [], meta: pagination('/transactions?after=txn_1') }, 'a circle'],
    [{ data: {}, meta: pagination(null, false) }, 'no list'],
    [{ data: [7], meta: pagination(null, false) }, 'no entities'],
    [{ data: [], meta: pagination(null, 'no') }, 'no answer'],
  ]
  for (const [body, label] of cases) {
    // Were it taken, the next page would be the last one.
    const pages = label === 'a circle' ? [body, body] : [body]
    const { context } = await answering(t, () => ({ body: pages.shift() ?? empty }))
    const failure = await failureOf(pollPayment(pollOf({}, new Date()), context))
    assert.equal(failure.code, 'provider_reply_invalid', label)
  }
  const pages = [
    { data: [], meta: pagination(`${other.api.base}/transactions?after=txn_1`) },
    empty,
  ]
  const { api, context } = await answering(t, () => ({ body: pages.shift() }))
  assert.equal((await pollPayment(pollOf({}, new Date()), context)).standing, 'absent')
  assert.match(api.requests[1]?.target ?? '', /^\/transactions\?.*&after=txn_1$/)
  assert.deepEqual(other.api.requests, [])
})
