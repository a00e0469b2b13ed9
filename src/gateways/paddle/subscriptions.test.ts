import assert from 'node:assert/strict'
import { test } from 'node:test'
import { days } from '../../kernel/duration.ts'
import type { Outcome } from '../../payments/outcome.ts'
import { interpretAll, paymentId } from '../../../test/gateways/paddle/events.ts'
import { pollOf, requestsTo } from '../../../test/gateways/paddle/operations.ts'
import { begun, inDays, monthly, start } from '../../../test/gateways/paddle/subscriptions.ts'
import { unmarked } from '../../../test/support/unmarked.ts'
import { paddle } from './index.ts'
import { pollPayment } from './poll.ts'

const shown = (outcomes: readonly Outcome[]) =>
  outcomes.map((one) =>
    one.type === 'payment' || one.type === 'invoice' ? `${one.type} ${one.status}` : one.type,
  )

const february = { startsAt: start, endsAt: new Date('2026-02-28T10:00:00.000Z') }
const march = { startsAt: february.endsAt, endsAt: new Date('2026-03-28T10:00:00.000Z') }

test('a paid checkout of ours is stated with our terms, and by the payment that began it', async (t) => {
  const { read, held, checkoutReference, provider } = await begun(t)
  const { statement, outcomes } = await read()
  assert.deepEqual(statement, {
    reference: held.id,
    status: 'active',
    amount: 4999n,
    currency: 'USD',
    every: { unit: 'month', count: 1 },
    currentPeriod: february,
    trialEndsAt: null,
    cancelAt: null,
    pauseAt: null,
    resumeAt: null,
    endedAt: null,
    failure: null,
    payment: { checkoutReference },
  })
  assert.deepEqual(shown(outcomes), ['payment paid', 'invoice paid'])
  assert.deepEqual(requestsTo(provider).slice(1), [
    `GET /subscriptions/${held.id}`,
    'GET /transactions',
  ])
})

test('case 44: charges are read as their callbacks tell them, so that a lost renewal is found', async (t) => {
  const { provider, context, read, advance } = await begun(t)
  advance(days(28))
  provider.lives.renew(paymentId)
  const callbacks = provider.takeCallbacks()
  const told: Outcome[] = []
  for (const { body } of callbacks) told.push(...(await interpretAll(body, context())))
  const completed = told.filter(
    (one) => one.type === 'invoice' || (one.type === 'payment' && one.subscriptionReference),
  )
  const { outcomes } = await read()
  const [first, firstInvoice, renewed, renewedInvoice] = outcomes
  assert.equal(outcomes.length, 4)
  assert.deepEqual(
    firstInvoice,
    completed.find(({ type }) => type === 'invoice'),
  )
  assert.deepEqual(
    renewedInvoice,
    completed.findLast(({ type }) => type === 'invoice'),
  )
  assert.ok(first?.type === 'payment' && renewed?.type === 'payment')
  assert.deepEqual(first.period, february)
  assert.deepEqual(renewed.period, march)
  assert.equal(renewed.renews, 'subscription')
  assert.deepEqual(
    renewed,
    completed.findLast(({ type }) => type === 'payment'),
  )
  assert.deepEqual(
    first,
    completed.find(({ type }) => type === 'payment'),
  )
})

test('a life is read as it goes: declined, tried again, recovered, ended', async (t) => {
  const { provider, read, advance } = await begun(t)
  advance(days(28))
  provider.lives.failRenewal(paymentId, 'expired_card')
  const failed = await read()
  assert.equal(failed.statement.status, 'past_due')
  // The period moves on before anything of it is paid.
  assert.deepEqual(failed.statement.currentPeriod, march)
  const failure = { attempt: 1, nextAttemptAt: null, needs: 'new_card' }
  assert.deepEqual(failed.statement.failure, failure)
  assert.deepEqual(shown(failed.outcomes), ['payment paid', 'invoice paid', 'payment failed'])
  provider.lives.failRenewal(paymentId)
  const again = await read()
  assert.deepEqual(again.statement.failure, { ...failure, attempt: 2, needs: 'nothing' })
  provider.lives.recover(paymentId)
  const recovered = await read()
  assert.equal(recovered.statement.status, 'active')
  assert.equal(recovered.statement.failure, null)
  assert.deepEqual(shown(recovered.outcomes).slice(2), ['payment paid', 'invoice paid'])
  advance(days(28))
  provider.lives.failRenewal(paymentId)
  provider.lives.giveUp(paymentId, 'pause')
  const paused = await read()
  assert.equal(paused.statement.status, 'paused')
  assert.equal(paused.statement.pauseReason, 'payment_failed')
  assert.equal(shown(paused.outcomes).at(-1), 'payment canceled')
  provider.lives.giveUp(paymentId, 'cancel')
  const ended = await read()
  assert.equal(ended.statement.status, 'canceled')
  assert.deepEqual(ended.statement.endedAt, inDays(56))
  assert.equal(ended.statement.currentPeriod, null)
})

test('a trial costs nothing at the checkout, and is stated until its end and after it', async (t) => {
  const life = await begun(t, { ...monthly, trialEndsAt: inDays(14) })
  const { statement, outcomes } = await life.read()
  assert.equal(statement.status, 'trialing')
  assert.equal(statement.amount, 4999n)
  assert.deepEqual(statement.trialEndsAt, inDays(14))
  assert.deepEqual(statement.currentPeriod, { startsAt: start, endsAt: inDays(14) })
  assert.deepEqual(statement.payment, { checkoutReference: life.checkoutReference })
  const [paid] = outcomes
  assert.ok(paid?.type === 'payment' && paid.status === 'paid')
  assert.equal(paid.amount, 0n)
  life.advance(days(14))
  life.provider.lives.renew(paymentId)
  const after = await life.read()
  assert.equal(after.statement.status, 'active')
  assert.deepEqual(after.statement.trialEndsAt, inDays(14))
  const renewed = after.outcomes.findLast(({ type }) => type === 'payment')
  assert.ok(renewed?.type === 'payment')
  assert.equal(renewed.amount, 4999n)
  assert.deepEqual(renewed.period?.startsAt, inDays(14))
})

test('a poll knows the checkout of a trial as paid with nothing, and by its subscription', async (t) => {
  const life = await begun(t, { ...monthly, trialEndsAt: inDays(14) })
  const { checkoutReference, held, context } = life
  const known = await pollPayment(pollOf({ checkoutReference, amount: 0n }), context())
  assert.equal(known.standing, 'paid')
  const [outcome] = known.outcomes
  assert.ok(outcome?.type === 'payment')
  assert.deepEqual([outcome.status, outcome.amount], ['paid', 0n])
  assert.equal(outcome.subscriptionReference, held.id)
  // Renewals have the same price; only the checkout is what was opened by API.
  life.advance(days(14))
  life.provider.lives.renew(paymentId)
  const found = await pollPayment(pollOf({ checkout: 'open' }, inDays(14)), context())
  assert.equal(found.standing, 'absent')
  const atFirst = await pollPayment(pollOf({ checkout: 'open' }, start), context())
  assert.equal(atFirst.checkout?.checkoutReference, checkoutReference)
})

test('the first transaction is asked for where it is not among the newest', async (t) => {
  const { provider, read, checkoutReference, held, advance } = await begun(t)
  provider.account.pageLimit = 2
  for (let count = 0; count < 3; count += 1) {
    advance(days(31))
    provider.lives.renew(paymentId)
  }
  const { statement, outcomes } = await read()
  assert.deepEqual(statement.payment, { checkoutReference })
  assert.equal(outcomes.filter(({ type }) => type === 'payment').length, 3)
  const targets = provider.asked.map(({ request }) => new URL(request.target, provider.base))
  assert.deepEqual(
    targets.slice(-2).map(({ searchParams }) => Object.fromEntries(searchParams)),
    [
      { subscription_id: held.id, order_by: 'id[DESC]', per_page: '30' },
      { subscription_id: held.id, origin: 'web,api', order_by: 'id[ASC]', per_page: '1' },
    ],
  )
})

test('case 46: custom data name nothing in the statement, and only claim in renewals', async (t) => {
  const { provider, read, held, checkoutReference, advance } = await begun(t)
  const strangers = '0198f0aa-0000-7000-8000-00000000beef'
  held.customData = { payment_id: strangers }
  advance(days(28))
  provider.lives.renew(paymentId)
  const { statement, outcomes } = await read()
  assert.deepEqual(statement.payment, { checkoutReference })
  const renewed = outcomes.findLast(({ type }) => type === 'payment')
  assert.ok(renewed?.type === 'payment')
  assert.deepEqual(renewed.claimed, { id: strangers, by: 'payer' })
})

test('what is charged in between is no period, and its document is told', async (t) => {
  const { provider, read } = await begun(t)
  provider.lives.chargeExtra(paymentId, 500n)
  const { outcomes } = await read()
  assert.deepEqual(shown(outcomes), ['payment paid', 'invoice paid', 'invoice paid'])
})

test('case 40: the callbacks of a life come in any order, and ring for one subscription', async (t) => {
  const { provider, context, held, advance } = await begun(t)
  advance(days(28))
  provider.lives.failRenewal(paymentId)
  provider.lives.recover(paymentId)
  const shuffled = provider.takeCallbacks((events) => events.toReversed())
  const types = shuffled.map(({ body }) => (JSON.parse(body) as { event_type: string }).event_type)
  assert.deepEqual(types.toReversed(), [
    'transaction.created',
    'transaction.paid',
    'subscription.created',
    'subscription.activated',
    'transaction.updated',
    'transaction.completed',
    'subscription.updated',
    'transaction.created',
    'transaction.billed',
    'transaction.payment_failed',
    'transaction.past_due',
    'subscription.updated',
    'subscription.past_due',
    'transaction.updated',
    'transaction.paid',
    'subscription.activated',
    'subscription.updated',
    'transaction.updated',
    'transaction.completed',
  ])
  assert.deepEqual(provider.takeCallbacks(), [])
  const named = new Set<string>()
  for (const { headers, body } of shuffled) {
    const request = { headers, body: Buffer.from(body) }
    const { credentials, now } = context()
    assert.deepEqual(await paddle.verify(request, credentials, now), { valid: true })
    for (const one of unmarked(await paddle.interpret(paddle.parse(request), context()))) {
      if (one.type === 'subscription') named.add(one.reference)
    }
  }
  assert.deepEqual([...named], [held.id])
})
