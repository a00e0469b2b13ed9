import assert from 'node:assert/strict'
import { test } from 'node:test'
import { days } from '../../kernel/duration.ts'
import type { Outcome } from '../../payments/outcome.ts'
import { contextFor, failureOf } from '../../../test/providers/kit.ts'
import { listOf, startApi, testKey } from '../../../test/gateways/stripe/api.ts'
import { contextOf, interpretAll, paymentId } from '../../../test/gateways/stripe/events.ts'
import {
  idPart,
  now,
  startOperations,
  startSubscribed,
  subscriptionId,
  type Started,
} from '../../../test/gateways/stripe/operations.ts'
import { stripe } from './index.ts'

const lifeOf = ({ standIn }: Started) => ({
  lives: standIn.lives,
  managed: standIn.lives.of(paymentId),
})
const next = new Date('2026-12-20T12:00:00Z')
const afterNext = new Date('2027-01-20T12:00:00Z')
const invoiceId = (number: number) => `in_${idPart}${number}`

const firstStatement = {
  reference: subscriptionId,
  live: false,
  status: 'active',
  amount: 4999n,
  currency: 'USD',
  every: { unit: 'month', count: 1 },
  currentPeriod: { startsAt: now, endsAt: next },
  trialEndsAt: null,
  cancelAt: null,
  pauseAt: null,
  resumeAt: null,
  endedAt: null,
  failure: null,
  payment: { id: paymentId },
} as const

const isPayment = (outcome: Outcome) => outcome.type === 'payment'

test('a subscription is read with the payments and documents of its invoices, oldest first', async () => {
  await using started = await startSubscribed()
  const { lives, managed } = lifeOf(started)
  lives.renew(managed)
  const reply = await started.read()
  assert.deepEqual(reply?.statement, {
    ...firstStatement,
    currentPeriod: { startsAt: next, endsAt: afterNext },
  })
  const money = { amount: 4999n, currency: 'USD', live: false }
  assert.deepEqual(reply?.outcomes.filter(isPayment), [
    {
      type: 'payment',
      status: 'paid',
      payment: { id: paymentId },
      providerReference: invoiceId(1),
      subscriptionReference: subscriptionId,
      period: { startsAt: now, endsAt: next },
      ...money,
    },
    {
      type: 'payment',
      status: 'paid',
      payment: { providerReference: invoiceId(2) },
      renews: { id: paymentId },
      providerReference: invoiceId(2),
      subscriptionReference: subscriptionId,
      period: { startsAt: next, endsAt: afterNext },
      ...money,
    },
  ])
  const documents = reply?.outcomes.filter(({ type }) => type === 'invoice')
  assert.partialDeepStrictEqual(documents, [
    { reference: invoiceId(1), status: 'paid', number: 'STANDIN-0001', payment: { id: paymentId } },
    {
      reference: invoiceId(2),
      status: 'paid',
      number: 'STANDIN-0002',
      payment: { providerReference: invoiceId(2) },
      subscriptionReference: subscriptionId,
    },
  ])
})

test('case 44: a renewal whose callback was lost is in the reading as the callback would say it', async () => {
  for (const ending of ['paid', { declined: 'stolen_card' }] as const) {
    await using started = await startSubscribed()
    const { lives, managed } = lifeOf(started)
    lives.renew(managed, ending)
    const reply = await started.read()
    const type = ending === 'paid' ? 'invoice.paid' : 'invoice.payment_failed'
    const lost = started.standIn.events.findLast((event) => event.type === type)
    assert.ok(lost)
    const context = contextOf(started.standIn.config)
    const told = (await interpretAll(lost, context)).filter((one) => one.type !== 'subscription')
    assert.deepEqual(reply?.outcomes.slice(-told.length), told)
  }
})

test('a failed charge says how often it was tried, when again, and what it needs', async () => {
  const retryAt = new Date(now.getTime() + days(3))
  const cases = [
    [{ declined: 'insufficient_funds' }, retryAt, 'nothing'],
    [{ declined: 'stolen_card' }, retryAt, 'new_card'],
    [{ declined: 'authentication_required' }, retryAt, 'confirmation'],
    ['waits', null, 'confirmation'],
  ] as const
  for (const [ending, nextAttemptAt, needs] of cases) {
    await using started = await startSubscribed()
    const { lives, managed } = lifeOf(started)
    lives.renew(managed, ending)
    const failed = await started.read()
    assert.equal(failed?.statement.status, 'past_due')
    assert.deepEqual(failed.statement.failure, { attempt: 1, nextAttemptAt, needs })
    lives.retry(managed, ending)
    const again = await started.read()
    assert.deepEqual(again?.statement.failure, { attempt: 2, nextAttemptAt, needs })
    lives.retry(managed, 'paid')
    assert.partialDeepStrictEqual((await started.read())?.statement, {
      status: 'active',
      failure: null,
    })
  }
})

test('a charge on which the bank has not decided has not failed', async () => {
  await using started = await startSubscribed()
  const { lives, managed } = lifeOf(started)
  lives.renew(managed, 'processing')
  const reply = await started.read()
  assert.partialDeepStrictEqual(reply?.statement, { status: 'active', failure: null })
  assert.equal(reply?.outcomes.filter(isPayment).length, 1)
})

test('after the last try it is canceled, paused, or goes on unpaid', async () => {
  const cases = [
    ['canceled', { status: 'canceled', currentPeriod: null, endedAt: now }],
    ['paused', { status: 'paused', pauseReason: 'payment_failed', currentPeriod: null }],
    ['unpaid', { status: 'past_due', hasGivenUp: true, endedAt: null }],
  ] as const
  for (const [how, expected] of cases) {
    await using started = await startSubscribed()
    const { lives, managed } = lifeOf(started)
    lives.renew(managed, { declined: 'insufficient_funds' })
    lives.giveUp(managed, how)
    const statement = (await started.read())?.statement
    assert.partialDeepStrictEqual(statement, expected)
    assert.partialDeepStrictEqual(statement?.failure, { attempt: 1, nextAttemptAt: null })
  }
})

test('a trial is stated until it ends, and its first charge renews the payment of the checkout', async () => {
  const trialEndsAt = new Date(now.getTime() + days(7))
  await using started = await startSubscribed({
    every: { unit: 'year', count: 1 },
    trialEndsAt,
    timeZone: 'UTC',
  })
  const { lives, managed } = lifeOf(started)
  const trial = await started.read()
  assert.partialDeepStrictEqual(trial?.statement, {
    status: 'trialing',
    trialEndsAt,
    every: { unit: 'year', count: 1 },
    currentPeriod: { startsAt: now, endsAt: trialEndsAt },
  })
  // Its invoice is over nothing: neither money nor a document.
  assert.deepEqual(trial?.outcomes, [])
  lives.renew(managed)
  const reply = await started.read()
  assert.partialDeepStrictEqual(reply?.statement, { status: 'active', trialEndsAt })
  const endsAt = new Date('2027-11-27T12:00:00Z')
  assert.partialDeepStrictEqual(reply?.outcomes.filter(isPayment), [
    { renews: { id: paymentId }, amount: 4999n, period: { startsAt: trialEndsAt, endsAt } },
  ])
})

test('only the newest invoices are read, in one request', async () => {
  await using started = await startSubscribed({
    every: { unit: 'day', count: 1 },
    trialEndsAt: null,
    timeZone: 'UTC',
  })
  const { lives, managed } = lifeOf(started)
  for (let count = 0; count < 30; count += 1) lives.renew(managed)
  const reply = await started.read()
  assert.equal(reply?.outcomes.filter(isPayment).length, 24)
  const last = reply.outcomes.findLast(isPayment)
  assert.equal(last?.providerReference, invoiceId(31))
  assert.equal(started.standIn.asked.filter(({ asking }) => asking === 'subscription').length, 2)
})

test('a subscription that Stripe does not have is undefined', async () => {
  await using started = await startOperations()
  assert.equal(await started.read(), undefined)
})

test('one of another account or mode is refused', async () => {
  await using started = await startSubscribed()
  const asked = () => started.standIn.asked.length
  const before = asked()
  const wrong = { live: true, merchantAccount: 'shop' }
  assert.equal((await failureOf(started.read({ live: true }))).code, 'gateway_not_configured')
  const other = await failureOf(started.read({ merchantAccount: wrong.merchantAccount }))
  assert.equal(other.code, 'payment_invalid')
  const foreign = await failureOf(started.read({ reference: '../charges/ch_1' }))
  assert.equal(foreign.code, 'subscription_invalid')
  assert.equal(asked(), before)
})

test('an answer of another mode, or about another subscription’s invoices, is refused', async () => {
  const reference = 'sub_1'
  const stated = { id: reference, object: 'subscription', livemode: true }
  const foreign = { id: 'in_9', object: 'invoice', subscription: 'sub_9' }
  for (const [livemode, invoices] of [
    [true, []],
    [false, [foreign]],
    [false, []],
  ] as const) {
    await using api = await startApi({
      '/v1/subscriptions/sub_1?expand[]=schedule': { ...stated, livemode },
      '/v1/invoices?subscription=sub_1&limit=24': listOf(invoices),
    })
    const settings = { secret_key: testKey, api_base: api.standIn.base }
    const context = contextFor(stripe, {}, { config: settings })
    const asked = stripe.subscriptions?.read(
      { reference, merchantAccount: null, live: false },
      context,
    )
    // The last one says nothing of its status.
    assert.equal((await failureOf(asked ?? Promise.resolve())).code, 'provider_reply_invalid')
  }
})
