import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../../payments/outcome.ts'
import type { SignedCallback } from '../gateway.ts'
import type { InterpretContext } from '../interpret-context.ts'
import type { PollReply } from '../operations.ts'
import {
  adjustment,
  paymentId,
  renewal,
  fetchedOutcome,
  subscriptionId,
  transaction,
  transactionId,
  type Fields,
} from '../../../test/gateways/paddle/events.ts'
import {
  answering,
  opened,
  paymentOf,
  pollOf,
  requestsTo,
  startProviderFor,
} from '../../../test/gateways/paddle/operations.ts'
import { failureOf } from '../../../test/providers/kit.ts'
import { paddle } from './index.ts'
import { pollPayment } from './poll.ts'
import { refundPayment } from './refund.ts'

async function told(callback: SignedCallback, context: InterpretContext): Promise<Outcome[]> {
  const request = { headers: callback.headers, body: Buffer.from(callback.body) }
  const verdict = await paddle.verify(request, context.credentials, new Date())
  assert.deepEqual(verdict, { valid: true })
  return [...(await paddle.interpret(paddle.parse(request), context))]
}

const typesOf = ({ outcomes }: PollReply) =>
  outcomes.map((outcome) =>
    outcome.type === 'ignored'
      ? outcome.reason
      : `${outcome.type} ${'status' in outcome ? outcome.status : ''}`,
  )

test('an open checkout has no outcome, and a declined one is failed and still open', async (t) => {
  const { provider, context } = await startProviderFor(t)
  const mine = await opened(context)
  const before = await pollPayment(pollOf(mine, new Date()), context)
  assert.deepEqual([typesOf(before), before.standing], [['no_outcome'], 'open'])
  assert.equal(before.checkout, undefined)
  provider.decline(paymentId)
  const declined = await pollPayment(pollOf(mine, new Date()), context)
  assert.deepEqual([typesOf(declined), declined.standing], [['payment failed'], 'open'])
  assert.equal(declined.listsRefunds, false)
  assert.deepEqual(requestsTo(provider).slice(1), [
    `GET /transactions/${mine.checkoutReference}`,
    `GET /transactions/${mine.checkoutReference}`,
  ])
})

for (const happen of ['pay', 'decline', 'expire'] as const) {
  test(`after ${happen} a poll says what the callback says, of the payment that asked`, async (t) => {
    const { provider, context } = await startProviderFor(t)
    const mine = await opened(context)
    provider[happen](paymentId)
    const reply = await pollPayment(pollOf(mine, new Date()), context)
    const callback = await told(provider.paymentCallback(paymentId), context)
    const [outcome] = callback
    assert.ok(outcome?.type === 'payment')
    const { claimed: _, ...stated } = outcome
    assert.deepEqual(reply.outcomes, [{ ...stated, payment: { id: paymentId } }])
    const standings = { pay: 'paid', decline: 'open', expire: 'unpaid' } as const
    assert.equal(reply.standing, standings[happen])
    assert.equal(reply.listsRefunds, happen === 'pay')
  })
}

test('refunds are told as their callbacks tell them, with our own id where they are ours', async (t) => {
  const { provider, context } = await startProviderFor(t)
  const mine = await opened(context)
  provider.pay(paymentId)
  const refundId = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6eff'
  const refund = paymentOf({ id: refundId, type: 'refund', amount: 1999n })
  const poll = () => pollPayment(pollOf(mine, new Date()), context)
  await refundPayment({ payment: mine, refund, isWhole: false, reason: null }, context)
  const waiting = await poll()
  assert.deepEqual(
    waiting.outcomes.slice(1),
    await told(provider.refundCallback(paymentId), context),
  )
  const [, pending] = waiting.outcomes
  assert.ok(pending?.type === 'refund' && 'refundId' in pending)
  assert.equal(pending.refundId, refundId)
  provider.completeRefunds(paymentId)
  provider.refundByHand(paymentId, 500n)
  const done = await poll()
  assert.deepEqual(typesOf(done), ['payment paid', 'refund paid', 'refund paid'])
  const [, ours, byHand] = done.outcomes
  assert.deepEqual(byHand, (await told(provider.refundCallback(paymentId), context)).at(-1))
  assert.deepEqual(ours, { ...pending, status: 'paid' })
  assert.equal(byHand !== undefined && 'refundId' in byHand, false)
  assert.equal(done.listsRefunds, true)
})

test('refunds are read to the last page', async (t) => {
  const { provider, context } = await startProviderFor(t)
  const mine = await opened(context)
  provider.pay(paymentId)
  for (let count = 0; count < 5; count += 1) provider.refundByHand(paymentId, 10n)
  provider.account.pageLimit = 2
  const reply = await pollPayment(pollOf(mine, new Date()), context)
  assert.equal(reply.outcomes.length, 6)
  assert.equal(requestsTo(provider).filter((one) => one === 'GET /adjustments').length, 3)
})

test('a checkout whose opening was never answered is found by its payment', async (t) => {
  const { provider, context } = await startProviderFor(t)
  for (let count = 0; count < 3; count += 1) {
    const id = `0198f0aa-4b1c-7cc3-9d52-00000000000${count}`
    await opened(context, { id })
  }
  provider.misbehave('checkout', 'cut')
  await failureOf(opened(context))
  provider.account.pageLimit = 2
  const reply = await pollPayment(pollOf({}, new Date()), context)
  const held = provider.account.transactions.at(-1)
  assert.deepEqual(reply.checkout, {
    url: held?.url,
    checkoutReference: held?.id,
    expiresAt: null,
  })
  assert.equal(reply.standing, 'open')
  const lists = requestsTo(provider).filter((one) => one === 'GET /transactions')
  assert.equal(lists.length, 2)
  provider.pay(paymentId)
  const paid = await pollPayment(pollOf({}, new Date()), context)
  const [charge] = await told(provider.paymentCallback(paymentId), context)
  assert.deepEqual(paid.outcomes, [charge])
})

test('a transaction that Paddle does not have is absent', async (t) => {
  const { context } = await startProviderFor(t)
  const reply = await pollPayment(pollOf({ checkoutReference: transactionId }, new Date()), context)
  assert.deepEqual([typesOf(reply), reply.standing], [['no_outcome'], 'absent'])
})

const empty = { data: [], meta: { pagination: { has_more: false } } }

/** Polls a transaction, with adjustments, as an API renders them. */
async function polled(
  t: Parameters<typeof answering>[0],
  {
    entity,
    adjustments = [],
  }: { readonly entity: Fields; readonly adjustments?: readonly Fields[] },
  fields: Parameters<typeof paymentOf>[0] = { checkoutReference: transactionId },
) {
  const list = { ...empty, data: adjustments }
  const { context } = await answering(t, ({ target }) => ({
    body: target.startsWith('/adjustments') ? list : { data: entity },
  }))
  return pollPayment(pollOf(fields, new Date()), context)
}

test('a payer who has done his part is undecided, whatever Paddle calls it', async (t) => {
  const standingOf = async (status: string, attempt?: string) => {
    const payments = attempt === undefined ? [] : [{ status: attempt }, { status: 'error' }]
    return (await polled(t, { entity: transaction({ status, payments }) })).standing
  }
  for (const attempt of ['authorized', 'captured', 'pending_no_action_required']) {
    assert.equal(await standingOf('ready', attempt), 'undecided', attempt)
  }
  for (const attempt of ['error', 'action_required', 'canceled']) {
    assert.equal(await standingOf('ready', attempt), 'open', attempt)
  }
  for (const status of ['draft', 'ready', 'billed', 'past_due']) {
    assert.equal(await standingOf(status), 'open', status)
  }
  assert.equal(await standingOf('paid', 'captured'), 'paid')
  assert.equal(await standingOf('canceled', 'error'), 'unpaid')
  assert.equal(await standingOf('canceled'), 'unpaid')
})

test('only a transaction that nobody has begun to pay is one that Paddle does not cancel', async (t) => {
  for (const status of ['draft', 'ready', 'billed', 'past_due', 'canceled', 'completed']) {
    const { unclosable } = await polled(t, { entity: transaction({ status, payments: [] }) })
    assert.equal(unclosable, status === 'draft' ? true : undefined, status)
  }
})

test('what Paddle says in other words, or against itself, is unclear and decides nothing', async (t) => {
  const cases: readonly Fields[] = [
    { status: 'something_new', payments: [{ status: 'error' }] },
    { status: 'ready', payments: [{ status: 'something_new' }, { status: 'error' }] },
    { status: 'ready', payments: [{ status: 'unknown' }] },
    { status: 'ready', payments: [7] },
    { status: 'ready', payments: 'none' },
    { status: 'canceled', payments: [{ status: 'captured' }] },
    { status: 'canceled', payments: [{ status: 'something_new' }] },
    { status: null },
  ]
  for (const fields of cases) {
    const reply = await polled(t, { entity: transaction(fields) })
    const label = JSON.stringify(fields)
    assert.deepEqual([typesOf(reply), reply.standing], [['no_outcome'], 'unclear'], label)
  }
})

test('disputes are told too, and credits are nothing to us', async (t) => {
  const adjustments = [
    adjustment({ action: 'credit' }),
    adjustment({ action: 'chargeback', status: 'approved' }),
  ]
  const reply = await polled(t, { entity: transaction(), adjustments })
  assert.deepEqual(typesOf(reply), ['payment paid', 'dispute open'])
  assert.equal(reply.listsRefunds, true)
})

test('with a refund that cannot be read, none is taken for missing', async (t) => {
  for (const [fields, reason] of [
    [{ status: 'something_new' }, 'no_outcome'],
    [{ action: 'something_new' }, 'unhandled_event'],
  ] as const) {
    const adjustments = [adjustment(), adjustment(fields)]
    const reply = await polled(t, { entity: transaction(), adjustments })
    assert.deepEqual(typesOf(reply), ['payment paid', 'refund paid', reason])
    assert.equal(reply.listsRefunds, false)
  }
})

test('a transaction that is stored is this payment’s, whatever its custom data say by now', async (t) => {
  const stranger = { payment_id: '0198f0aa-4b1c-7cc3-9d52-00000000dead' }
  const cases: readonly Fields[] = [
    transaction({ custom_data: { utm_source: 'mail' } }),
    transaction({ custom_data: null }),
    transaction({ custom_data: stranger }),
    transaction({ custom_data: { payment_id: 7 } }),
    transaction({ origin: 'something_new' }),
    renewal({ custom_data: null, subscription_id: null }),
  ]
  for (const entity of cases) {
    const { outcomes, standing } = await polled(t, { entity })
    assert.deepEqual([outcomes, standing], [[fetchedOutcome], 'paid'], JSON.stringify(entity))
  }
  // A renewal says what it renews, so that other money than the first one's is seen.
  const renews = { renews: 'subscription', subscriptionReference: subscriptionId } as const
  const { outcomes } = await polled(t, { entity: renewal({ custom_data: stranger }) })
  assert.deepEqual(outcomes, [{ ...fetchedOutcome, ...renews }])
})

test('adjustments of another transaction are refused', async (t) => {
  const otherAdjustment = adjustment({ transaction_id: 'txn_another' })
  const mixed = polled(t, { entity: transaction(), adjustments: [adjustment(), otherAdjustment] })
  assert.equal((await failureOf(mixed)).code, 'provider_reply_invalid')
})

for (const [misbehaviour, code] of [
  ['wrong', 'provider_reply_invalid'],
  ['garbled', 'provider_reply_invalid'],
  ['refuse', 'provider_refused'],
] as const) {
  test(`a poll that is answered ${misbehaviour} fails, whichever request it was`, async (t) => {
    const { provider, context } = await startProviderFor(t)
    const mine = await opened(context)
    provider.pay(paymentId)
    const poll = () => pollPayment(pollOf(mine, new Date()), context)
    provider.misbehave('poll', misbehaviour)
    assert.equal((await failureOf(poll())).code, code)
    provider.misbehave('poll', 'late', misbehaviour)
    assert.equal((await failureOf(poll())).code, code)
    assert.deepEqual(typesOf(await poll()), ['payment paid'])
  })
}

test('a poll ends with its time, and an outage that is short is waited out', async (t) => {
  const { provider, context, untilSilent } = await startProviderFor(t)
  const mine = await opened(context)
  provider.misbehave('poll', 'never')
  const late = pollPayment(pollOf(mine, new Date()), untilSilent())
  assert.equal((await failureOf(late)).code, 'provider_unreachable')
  provider.misbehave('poll', 'down')
  const reply = await pollPayment(pollOf(mine, new Date()), context)
  assert.equal(reply.standing, 'open')
})
