import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Payment } from '../../payments/payment.ts'
import { closeCheckout } from './close-checkout.ts'
import { paymentId, transaction, transactionId } from '../../../test/gateways/paddle/events.ts'
import {
  answering,
  bodyOf,
  opened,
  paymentOf,
  pollOf,
  requestsTo,
  startProviderFor,
} from '../../../test/gateways/paddle/operations.ts'
import { failureOf } from '../../../test/providers/kit.ts'

const of = (mine: Payment) => pollOf(mine, new Date())

test('a checkout that a payer has begun is canceled, as the official package does it', async (t) => {
  const { provider, context, official } = await startProviderFor(t)
  const mine = await opened(context)
  provider.decline(paymentId)
  assert.equal(await closeCheckout(of(mine), context), 'closed')
  assert.equal(provider.account.transactions[0]?.status, 'canceled')
  assert.deepEqual(requestsTo(provider).slice(1), [`PATCH /transactions/${mine.checkoutReference}`])
  provider.decline(paymentId)
  await official.transactions.update(mine.checkoutReference ?? '', { status: 'canceled' })
  const [ours, theirs] = provider.asked.slice(1).map(({ request }) => bodyOf(request))
  assert.deepEqual(ours, theirs)
})

test('one that nobody has begun cannot be canceled: it is closed as far as it can be', async (t) => {
  const { provider, context } = await startProviderFor(t)
  const mine = await opened(context)
  assert.equal(await closeCheckout(of(mine), context), 'closed')
  assert.equal(provider.account.transactions[0]?.status, 'draft')
  assert.deepEqual(requestsTo(provider).slice(1), [
    `PATCH /transactions/${mine.checkoutReference}`,
    `GET /transactions/${mine.checkoutReference}`,
  ])
})

test('one that is paid or canceled, or that Paddle never had, is not open', async (t) => {
  const { provider, context } = await startProviderFor(t)
  const mine = await opened(context)
  for (const happen of ['pay', 'expire'] as const) {
    provider[happen](paymentId)
    assert.equal(await closeCheckout(of(mine), context), 'not_open', happen)
  }
  const gone = pollOf({ checkoutReference: transactionId }, new Date())
  assert.equal(await closeCheckout(gone, context), 'not_open')
  const id = '0198f0aa-4b1c-7cc3-9d52-000000000003'
  assert.equal(await closeCheckout(pollOf({ id }, new Date()), context), 'not_open')
})

test('one whose opening was never answered is found and canceled', async (t) => {
  const { provider, context } = await startProviderFor(t)
  await opened(context)
  provider.decline(paymentId)
  assert.equal(await closeCheckout(of(paymentOf()), context), 'closed')
  assert.equal(provider.account.transactions[0]?.status, 'canceled')
})

test('a reply that does not say canceled is not taken for a cancelation', async (t) => {
  const entity = transaction({ status: 'ready' })
  const { context } = await answering(t, () => ({ body: { data: entity } }))
  const request = pollOf({ checkoutReference: transactionId }, new Date())
  assert.equal((await failureOf(closeCheckout(request, context))).code, 'provider_reply_invalid')
})
