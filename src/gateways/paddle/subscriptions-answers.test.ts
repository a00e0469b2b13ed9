import assert from 'node:assert/strict'
import { test } from 'node:test'
import { days } from '../../kernel/duration.ts'
import { paymentId, transactionId } from '../../../test/gateways/paddle/events.ts'
import {
  answering,
  contextOf,
  requestsTo,
  startProviderFor,
} from '../../../test/gateways/paddle/operations.ts'
import { begun, managed } from '../../../test/gateways/paddle/subscriptions.ts'
import { failureOf } from '../../../test/providers/kit.ts'
import { paddleSubscriptions } from './subscriptions.ts'

test('a subscription that Paddle does not have is undefined, and one of another name is not asked for', async (t) => {
  const { provider, context } = await startProviderFor(t)
  const of = (reference: string) =>
    paddleSubscriptions.read({ reference, merchantAccount: null, live: false }, context)
  assert.equal(await of('sub_01000000000000000000000001'), undefined)
  assert.equal(requestsTo(provider).length, 1)
  for (const reference of ['', 'txn_1', 'sub_1/../x', 'sub_1?x=1']) {
    assert.equal(await of(reference), undefined)
  }
  assert.equal(requestsTo(provider).length, 1)
})

test('without an API key nothing is read', async () => {
  const context = contextOf({ signing_secret: 'pdl_ntfset_of_a_test' })
  const request = { reference: 'sub_1', merchantAccount: null, live: null }
  assert.deepEqual(await failureOf(paddleSubscriptions.read(request, context)), {
    code: 'gateway_not_configured',
    providerCode: undefined,
  })
})

test('answers about something else, or that make no sense, state nothing', async (t) => {
  const { provider, read } = await begun(t)
  provider.misbehave('subscription', 'wrong')
  assert.equal((await failureOf(read())).code, 'provider_reply_invalid')
  const answers = [
    [
      { data: managed({ status: 'expired' }) },
      { data: [], meta: { pagination: { has_more: false } } },
    ],
    [{ data: managed() }, { data: [{ id: transactionId, subscription_id: null }], meta: {} }],
    [{ data: managed() }, { data: 'x', meta: {} }],
  ]
  for (const [subscription, list] of answers) {
    const { context } = await answering(t, ({ target }) => ({
      body: target.startsWith('/subscriptions') ? subscription : list,
    }))
    const request = {
      reference: 'sub_01m2z7q4w9e6r8t5y3u1i0o7pb',
      merchantAccount: null,
      live: null,
    }
    const { code } = await failureOf(paddleSubscriptions.read(request, context))
    assert.equal(code, 'provider_reply_invalid')
  }
})

test('the official package reads the same of a subscription', async (t) => {
  const { official, read, held, provider, advance } = await begun(t)
  advance(days(28))
  provider.lives.failRenewal(paymentId, 'authentication_failed')
  const { statement } = await read()
  const theirs = await official.subscriptions.get(held.id, {
    include: ['recurring_transaction_details'],
  })
  assert.equal(theirs.status, statement.status)
  const [item] = theirs.items
  assert.equal(item?.price.unitPrice.amount, statement.amount.toString())
  const { interval, frequency } = theirs.billingCycle
  assert.deepEqual([interval, frequency], ['month', 1])
  assert.equal(theirs.currentBillingPeriod?.endsAt, statement.currentPeriod?.endsAt.toISOString())
  const [newest] = await official.transactions
    .list({ subscriptionId: [held.id], orderBy: 'id[DESC]', perPage: 30 })
    .next()
  assert.equal(newest?.payments[0]?.errorCode, 'authentication_failed')
  assert.equal(newest?.origin, 'subscription_recurring')
  assert.equal(newest?.billingPeriod?.startsAt, statement.currentPeriod?.startsAt.toISOString())
})
