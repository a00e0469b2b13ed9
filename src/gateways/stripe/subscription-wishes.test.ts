import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../../payments/outcome.ts'
import { failureOf, thrownBy } from '../../../test/providers/kit.ts'
import { paymentId } from '../../../test/gateways/stripe/events.ts'
import {
  now,
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

test('a cancellation at the end of the period is planned, and taken back', async () => {
  await using started = await startSubscribed()
  const { lives, managed } = lifeOf(started)
  await started.wish('cancel')
  assert.partialDeepStrictEqual((await started.read())?.statement, {
    status: 'active',
    cancelAt: next,
  })
  await started.wish('resume', { wishId: 'wish-2' })
  assert.deepEqual((await started.read())?.statement, firstStatement)
  await started.wish('cancel', { wishId: 'wish-3' })
  lives.renew(managed)
  assert.partialDeepStrictEqual((await started.read())?.statement, {
    status: 'canceled',
    cancelAt: null,
    currentPeriod: null,
    endedAt: now,
  })
})

test('case 48: cancel, resume, cancel at once are three requests, each made once', async () => {
  await using started = await startSubscribed()
  await started.wish('cancel', { wishId: 'a' })
  await started.wish('resume', { wishId: 'b' })
  await started.wish('cancel', { wishId: 'c' })
  const wishes = () => started.standIn.asked.filter(({ asking }) => asking === 'wish')
  assert.deepEqual(
    wishes().map(({ request }) => request.headers['idempotency-key']),
    ['cancel:a', 'resume:b', 'cancel:c'],
  )
  assert.equal(started.standIn.lives.of(paymentId).cancelAt, next.getTime() / 1000)
  // A repeated request is answered as before, and does nothing.
  await started.wish('resume', { wishId: 'b' })
  assert.equal(started.standIn.lives.of(paymentId).cancelAt, next.getTime() / 1000)
  assert.equal(wishes().length, 4)
})

test('an end at once is one request; of one that has ended it is no error', async () => {
  await using started = await startSubscribed()
  await started.wish('end')
  const statement = (await started.read())?.statement
  assert.partialDeepStrictEqual(statement, { status: 'canceled', endedAt: now })
  await started.wish('end', { wishId: 'wish-2' })
  assert.equal(started.changes().length, 3)
  const refused = await failureOf(started.wish('cancel', { wishId: 'wish-3' }))
  assert.equal(refused.code, 'provider_refused')
  const unknown = await failureOf(started.wish('end', { reference: 'sub_unknown' }))
  assert.deepEqual(unknown, { code: 'provider_refused', providerCode: 'resource_missing' })
})

test('a pause begins at once, and ends with the payment of a new period', async () => {
  await using started = await startSubscribed()
  await started.wish('pause')
  assert.partialDeepStrictEqual((await started.read())?.statement, {
    status: 'paused',
    pauseReason: 'requested',
    currentPeriod: null,
  })
  started.standIn.lives.whenResumed = { declined: 'insufficient_funds' }
  await started.wish('resume', { wishId: 'wish-2' })
  const declined = await started.read()
  assert.partialDeepStrictEqual(declined?.statement, {
    status: 'paused',
    failure: { attempt: 1, needs: 'nothing' },
  })
  started.standIn.lives.whenResumed = 'paid'
  await started.wish('resume', { wishId: 'wish-3' })
  const resumed = await started.read()
  assert.partialDeepStrictEqual(resumed?.statement, { status: 'active', failure: null })
  assert.partialDeepStrictEqual(resumed?.outcomes.findLast(isPayment), {
    status: 'paid',
    renews: { id: paymentId },
    period: { startsAt: now, endsAt: next },
  })
})

test('what Stripe does not do is said, and nothing is asked', async () => {
  await using started = await startSubscribed()
  const request = { reference: subscriptionId, merchantAccount: null, live: false, wishId: 'w' }
  const before = started.standIn.asked.length
  for (const wish of [
    { at: 'period_end', until: null },
    { at: 'now', until: next },
  ] as const) {
    const paused = stripe.subscriptions?.pause?.({ ...request, ...wish }, started.context())
    const error = await thrownBy(paused ?? Promise.resolve())
    assert.equal(error.code, 'operation_unsupported')
    assert.match(error.fix, /dashboard/)
  }
  assert.equal(started.standIn.asked.length, before)
})

test('a pause of what cannot be paused is refused by Stripe', async () => {
  await using started = await startSubscribed()
  const { lives, managed } = lifeOf(started)
  lives.renew(managed, { declined: 'insufficient_funds' })
  assert.equal((await failureOf(started.wish('pause'))).code, 'provider_refused')
})

test('an answer that is about another subscription, or none, leaves open what was done', async () => {
  await using started = await startSubscribed()
  const wishes = ['cancel', 'end', 'pause', 'resume'] as const
  for (const [index, wish] of wishes.entries()) {
    started.standIn.misbehave('wish', 'wrong')
    const wrong = await failureOf(started.wish(wish, { wishId: `wrong-${index}` }))
    assert.match(wrong.code, /^provider_(?:reply_invalid|refused)$/, wish)
    started.standIn.misbehave('wish', 'cut')
    const cut = await failureOf(started.wish(wish, { wishId: `cut-${index}` }))
    assert.match(cut.code, /^provider_(?:unreachable|refused)$/, wish)
    if (wish === 'end') break
  }
  started.standIn.misbehave('subscription', 'wrong')
  assert.equal((await failureOf(started.read())).code, 'provider_reply_invalid')
})

test('Stripe takes periods of up to three years', () => {
  const faultOf = stripe.subscriptions?.intervalFault
  assert.ok(faultOf)
  const taken = [
    ['day', 366],
    ['week', 156],
    ['month', 36],
    ['year', 3],
  ] as const
  for (const [unit, count] of taken) {
    assert.equal(faultOf({ unit, count }), undefined)
    if (unit === 'day') continue
    assert.match(faultOf({ unit, count: count + 1 }) ?? '', /three years/)
  }
})
