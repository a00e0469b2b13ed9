import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Payment } from '../../payments/payment.ts'
import { refundFor, refundId } from '../../../test/providers/kit.ts'
import { refundIdIn, refundReason } from './refund-reason.ts'
import { refundPayment } from './refund.ts'
import {
  adjustment,
  adjustmentId,
  paymentId,
  totals,
  transactionId,
} from '../../../test/gateways/paddle/events.ts'
import {
  answering,
  bodyOf,
  contextOf,
  opened,
  paymentOf,
  requestsTo,
  startProviderFor,
} from '../../../test/gateways/paddle/operations.ts'
import { failureOf } from '../../../test/providers/kit.ts'

/** Of this charge, all of it unless an amount is named. */
const refundOf = (payment: Payment, amount = payment.amount, reason: string | null = null) =>
  refundFor(payment, amount, { reason })

async function paidPayment(t: Parameters<typeof startProviderFor>[0]) {
  const started = await startProviderFor(t)
  const charge = await opened(started.context)
  started.provider.pay(paymentId)
  const posts = () =>
    started.provider.asked.filter(({ asking }) => asking === 'refund').map(({ request }) => request)
  return { ...started, charge, posts }
}

test('the whole charge goes back with one request, and waits for approval', async (t) => {
  const { provider, context, charge, posts } = await paidPayment(t)
  const reply = await refundPayment(refundOf(charge, undefined, 'Too late'), context)
  const [held] = provider.account.adjustments
  assert.deepEqual(reply, { status: 'pending', reference: held?.id })
  assert.deepEqual(requestsTo(provider).slice(1), ['POST /adjustments'])
  assert.deepEqual(bodyOf(posts()[0]), {
    action: 'refund',
    transaction_id: charge.checkoutReference,
    reason: `Too late (refund ${refundId})`,
    type: 'full',
  })
  assert.deepEqual(provider.refunds(paymentId), [{ amount: 4999n, status: 'pending' }])
})

test('a part goes back as a part of the item, as the official package says it', async (t) => {
  const { provider, context, official, charge, posts } = await paidPayment(t)
  const transaction = await official.transactions.get(charge.checkoutReference ?? '')
  const reply = await refundPayment(refundOf(charge, 1999n), context)
  provider.completeRefunds(paymentId)
  const theirs = await official.adjustments.create({
    action: 'refund',
    transactionId: transaction.id,
    reason: `Requested by the merchant (refund ${refundId})`,
    type: 'partial',
    items: [
      { itemId: transaction.details?.lineItems[0]?.id ?? '', type: 'partial', amount: '1999' },
    ],
  })
  const [ourBody, theirBody] = posts().map(bodyOf)
  assert.deepEqual(ourBody, theirBody)
  assert.deepEqual([reply.status, theirs.status], ['pending', 'pending_approval'])
  assert.match(reply.reference ?? '', /^adj_/)
  assert.deepEqual(
    provider.refunds(paymentId).map(({ amount }) => amount),
    [1999n, 1999n],
  )
})

test('Paddle refuses a refund beside one that waits, more than is left, and one of nothing paid', async (t) => {
  const { provider, context, charge } = await paidPayment(t)
  const codeOf = async (amount: bigint, of = charge) => {
    const failure = await failureOf(refundPayment(refundOf(of, amount), context))
    assert.equal(failure.code, 'provider_refused')
    return failure.providerCode
  }
  await refundPayment(refundOf(charge, 4000n), context)
  assert.equal(await codeOf(1n), 'adjustment_pending_refund_request')
  provider.completeRefunds(paymentId)
  assert.equal(await codeOf(1000n), 'adjustment_amount_above_remaining_allowed')
  const id = '0198f0aa-4b1c-7cc3-9d52-000000000002'
  const unpaid = await opened(context, { id })
  assert.equal(await codeOf(4999n, unpaid), 'adjustment_transaction_invalid_status_for_refund')
  const gone = { ...charge, checkoutReference: transactionId }
  assert.equal(await codeOf(4999n, gone), 'not_found')
  assert.equal(provider.refunds(paymentId).length, 1)
})

test('a late answer counts, and items that cannot be read move nothing', async (t) => {
  const { provider, context, charge, posts } = await paidPayment(t)
  provider.misbehave('poll', 'wrong', 'garbled', 'refuse')
  for (const code of [
    'provider_reply_invalid',
    'provider_reply_invalid',
    'provider_refused',
  ] as const) {
    const failure = await failureOf(refundPayment(refundOf(charge, 10n), context))
    assert.equal(failure.code, code)
  }
  assert.deepEqual(posts(), [])
  provider.misbehave('refund', 'late')
  assert.equal((await refundPayment(refundOf(charge, 10n), context)).status, 'pending')
})

test('of several API keys only the first one moves money', async (t) => {
  const { provider, charge, posts } = await paidPayment(t)
  const { api_key: key, ...rest } = provider.config
  const context = contextOf({ ...rest, api_key: `${key},pdl_sdbx_apikey_the_old_one` })
  provider.misbehave('refund', 'refuse')
  await failureOf(refundPayment(refundOf(charge), context))
  assert.deepEqual(
    posts().map(({ headers }) => headers.authorization),
    [`Bearer ${key}`],
  )
})

test('a payment without a transaction is not asked about', async (t) => {
  const { provider, context } = await startProviderFor(t)
  const unknown = await failureOf(refundPayment(refundOf(paymentOf()), context))
  assert.equal(unknown.code, 'provider_refused')
  assert.deepEqual(provider.asked, [])
})

const charge = paymentOf({ checkoutReference: transactionId })

test("an adjustment's status says what became of the refund", async (t) => {
  const statuses = { approved: 'paid', rejected: 'failed', pending_approval: 'pending' } as const
  for (const [status, expected] of Object.entries(statuses)) {
    const { context } = await answering(t, () => ({ body: { data: adjustment({ status }) } }))
    const reply = await refundPayment(refundOf(charge), context)
    assert.deepEqual(reply, { status: expected, reference: adjustmentId })
  }
  for (const fields of [
    { status: 'something_new' },
    { action: 'credit' },
    { action: 'chargeback' },
    { id: 'txn_01m2z7q4w9e6r8t5y3u1i0o7pa' },
    { transaction_id: 'txn_another' },
  ]) {
    const { context } = await answering(t, () => ({ body: { data: adjustment(fields) } }))
    const failure = await failureOf(refundPayment(refundOf(charge), context))
    assert.equal(failure.code, 'provider_reply_invalid', JSON.stringify(fields))
  }
})

const lineItem = (letter: string, total: unknown) => ({
  id: `txnitm_${letter}`,
  totals: totals({ total }),
})

/** The items of the request, for a transaction of 30.00, 10.00 and 9.99 that was adjusted so. */
async function itemsAsked(
  t: Parameters<typeof answering>[0],
  amount: bigint,
  adjustments: readonly object[] = [],
) {
  const line_items = [lineItem('a', '3000'), lineItem('b', '1000'), lineItem('c', '999')]
  const { api, context } = await answering(t, ({ method, target }) => {
    if (method === 'POST') return { status: 201, body: { data: adjustment() } }
    const list = { data: adjustments, meta: { pagination: { has_more: false } } }
    const one = { data: { id: transactionId, details: { line_items } } }
    return { body: target.startsWith('/adjustments') ? list : one }
  })
  await refundPayment({ ...refundOf(charge, amount), isWhole: false }, context)
  const body = bodyOf(api.requests.at(-1)) as { readonly items: readonly Item[] }
  return body.items.map((item) => [item.item_id.at(-1), item.type, item.amount])
}

interface Item {
  readonly item_id: string
  readonly type: string
  readonly amount?: string
}

test('a part of several items is taken from the first ones', async (t) => {
  assert.deepEqual(await itemsAsked(t, 1500n), [['a', 'partial', '1500']])
  assert.deepEqual(await itemsAsked(t, 3000n), [['a', 'full', undefined]])
  assert.deepEqual(await itemsAsked(t, 3250n), [
    ['a', 'full', undefined],
    ['b', 'partial', '250'],
  ])
  assert.deepEqual(await itemsAsked(t, 4999n), [
    ['a', 'full', undefined],
    ['b', 'full', undefined],
    ['c', 'full', undefined],
  ])
  // More than there is: for Paddle to refuse.
  assert.deepEqual((await itemsAsked(t, 6000n)).at(-1), ['c', 'partial', '2000'])
})

test('what was taken off an item before is not taken off it again', async (t) => {
  const item = (letter: string, total: string) => ({
    item_id: `txnitm_${letter}`,
    totals: totals({ total }),
  })
  const adjustments = [
    adjustment({ items: [item('a', '2500'), item('b', '1000')] }),
    adjustment({ status: 'rejected', items: [item('a', '500')] }),
    adjustment({ action: 'chargeback_warning', items: [item('a', '100')] }),
  ]
  assert.deepEqual(await itemsAsked(t, 700n, adjustments), [
    ['a', 'partial', '500'],
    ['c', 'partial', '200'],
  ])
})

test('items that have no id or no amount are told as such', async (t) => {
  const cases: unknown[] = [
    null,
    [],
    [{ id: 'txnitm_a' }],
    [lineItem('a', '1.0')],
    [lineItem('', '1')],
  ]
  for (const line_items of cases) {
    const { api, context } = await answering(t, () => ({
      body: { data: { id: transactionId, details: { line_items } } },
    }))
    const failure = await failureOf(refundPayment(refundOf(charge, 1n), context))
    assert.equal(failure.code, 'provider_reply_invalid')
    assert.deepEqual(
      api.requests.map(({ method }) => method),
      ['GET'],
    )
  }
})

test("our refund's id comes back in the reason, and nobody else's words are taken for one", () => {
  const read = (reason: unknown) => refundIdIn(new Map([['reason', reason as string]]))
  for (const reason of [null, '', '  ', 'Damaged', 'x'.repeat(500), `(refund ${paymentId})`]) {
    const text = refundReason(reason, refundId)
    assert.equal(read(text), refundId)
    assert.equal(read(text.replace(refundId, refundId.toUpperCase())), refundId)
    assert.ok(text.length <= 260)
  }
  const none = ['error', null, 7, `refund ${refundId}`, `(refund ${refundId}) x`, '(refund -)']
  for (const reason of none) assert.equal(read(reason), undefined)
  assert.equal(read(`(refund ${'-'.repeat(36)})`), undefined)
})
