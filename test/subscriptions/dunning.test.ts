import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeSubscription } from '../../src/subscriptions/change-subscription.ts'
import type { SubscriptionChange, SubscriptionState } from '../../src/subscriptions/change.ts'
import { planAction } from '../../src/subscriptions/plan-action.ts'
import { takePayment } from '../../src/subscriptions/take-payment.ts'
import { useCard } from '../../src/subscriptions/use-card.ts'
import {
  active,
  after,
  at,
  decide,
  end,
  march,
  owing,
  pastDue,
  policy,
  renewing,
  said,
  start,
} from './states.ts'

const soft = { kind: 'declined', decline: 'soft' } as const
const hard = { kind: 'declined', decline: 'hard' } as const
const authentication = { kind: 'declined', decline: 'authentication' } as const
const notMade = { kind: 'not_made' } as const
const ours = { kind: 'ours', text: 'the key has expired' } as const
const later = march(10, '12:00:05')

const take = (
  given: SubscriptionState,
  answer: Parameters<typeof decide>[1],
  moment = at(later),
): SubscriptionChange => {
  const { state, decided } = decide(given, answer)
  return takePayment(state, decided, moment)
}
const failure = (change: SubscriptionChange) => {
  const event = change.events.find(({ type }) => type === 'SubscriptionPaymentFailed')
  assert.ok(event?.type === 'SubscriptionPaymentFailed')
  return event.data
}
const openOf = ({ periods }: SubscriptionChange) => periods.find(({ state }) => state === 'open')
const plus = (time: Date, days: number) => new Date(time.getTime() + days * 86_400_000)

/** A retry that is being charged. */
const retrying = (number: number, more: { holds?: string } = {}): SubscriptionState =>
  renewing({
    subscription: { status: 'past_due', ...(more.holds && { paymentMethodId: more.holds }) },
    open: {
      statusBefore: 'active',
      firstFailedAt: later,
      declines: number,
      paymentsMade: number + 1,
    },
  })

test('case 21: soft declines are retried on the days of the settings, counted from the first', () => {
  let state = planned(active(), start)
  const told: (number | null)[] = []
  const due = [start, ...policy.retryDays.map((days) => plus(later, days))]
  for (const [index, time] of due.entries()) {
    if (index > 0) state = planned(state, time)
    // Each answer takes an hour: that stretches nothing.
    const moment = at(index === 0 ? later : new Date(time.getTime() + 3_600_000))
    const { state: standing, decided } = decide(state, soft)
    const change = takePayment(standing, decided, moment)
    state = after(standing, change)
    if (index === due.length - 1) {
      assert.equal(said(change), 'past_due -> canceled | period 2 void | SubscriptionCancelled')
    } else {
      const { attempt, nextAttemptAt } = failure(change)
      told.push(attempt)
      assert.deepEqual(nextAttemptAt, due[index + 1])
      assert.deepEqual(change.subscription.nextActionAt, due[index + 1])
    }
  }
  assert.deepEqual(told, [1, 2, 3, 4])
})

function planned(state: SubscriptionState, now: Date): SubscriptionState {
  const change = planAction(state, at(now))
  assert.ok(change.payment, 'it is charged')
  return after(state, change)
}

test('case 22: after a hard decline the card is charged no more, and it ends when retries would', () => {
  const change = take(renewing(), hard)
  const { needs, nextAttemptAt } = failure(change)
  assert.deepEqual([needs, nextAttemptAt], ['new_card', null])
  const state = after(decide(renewing(), hard).state, change)
  assert.deepEqual(change.subscription.nextActionAt, plus(later, 7))
  assert.equal(said(planAction(state, at(plus(later, 6.9)))), '')
  assert.equal(
    said(planAction(state, at(plus(later, 7)))),
    'past_due -> canceled | period 2 void | SubscriptionCancelled',
  )
})

test('case 22: another card is charged at once', () => {
  const state = after(decide(renewing(), hard).state, take(renewing(), hard))
  const change = useCard(state, 'other', at(march(12)))
  assert.deepEqual(change.subscription.nextActionAt, march(12))
  const charge = planAction(after(state, change), at(march(12)))
  assert.equal(charge.payment?.paymentMethodId, 'other')
  assert.equal(openOf(charge)?.needs, 'nothing')
})

test('the card that is there is no new one, however often it is reported', () => {
  const state = after(decide(renewing(), hard).state, take(renewing(), hard))
  assert.equal(said(useCard(state, 'card', at(march(12)))), '')
})

test('case 23: a card that was replaced while the old one was declined is charged at once', () => {
  const state = retrying(1)
  const changed = after(state, useCard(state, 'other', at(later)))
  assert.notEqual(changed.live, null, 'what is live is waited for')
  for (const answer of [soft, hard]) {
    const { state: standing, decided } = decide(changed, { ...answer, paymentMethodId: 'card' })
    const change = takePayment(standing, decided, at(march(12)))
    const { needs, nextAttemptAt } = failure(change)
    assert.deepEqual([needs, nextAttemptAt], ['nothing', march(12)])
    assert.equal(
      planAction(after(standing, change), at(march(12))).payment?.paymentMethodId,
      'other',
    )
  }
})

test('case 23: also where that was the last retry', () => {
  const state = retrying(4, { holds: 'other' })
  const change = take(state, { ...soft, paymentMethodId: 'card' }, at(march(18)))
  assert.deepEqual(failure(change).nextAttemptAt, march(18))
})

test('a bank that wants to know the payer: he confirms on the page, and retries go on', () => {
  const { needs, nextAttemptAt } = failure(take(renewing(), authentication))
  assert.deepEqual([needs, nextAttemptAt], ['confirmation', plus(later, 1)])
})

test('case 26: a charge that waits for its payer is told once, whatever becomes of it', () => {
  const state = renewing({ live: { needsPayer: true } })
  const change = planAction(state, at(later))
  const { paymentId, needs, nextAttemptAt } = failure(change)
  assert.deepEqual(
    [paymentId, needs, nextAttemptAt],
    [state.live?.id, 'confirmation', plus(later, 1)],
  )
  const waiting = withPayer(after(state, change))
  assert.equal(said(planAction(waiting, at(march(10, '18:00:00')))), '')
  assert.equal(
    said(take(waiting, { kind: 'paid' })),
    'past_due -> active | period 2 paid | SubscriptionRenewed',
  )
  for (const answer of [authentication, soft, notMade]) {
    const left = take(waiting, answer)
    assert.equal(said(left), 'period 2 open')
    assert.deepEqual(left.subscription.nextActionAt, plus(later, 1))
    assert.equal(openOf(left)?.notMade, 0)
  }
  const stolen = take(waiting, hard)
  assert.deepEqual([openOf(stolen)?.needs, openOf(stolen)?.nextAttemptAt], ['new_card', null])
})

test('case 26: at the next retry it is closed, and the card is charged again', () => {
  const state = renewing({ live: { needsPayer: true } })
  const waiting = withPayer(after(state, planAction(state, at(later))))
  const now = plus(later, 1)
  const change = planAction(waiting, at(now))
  assert.equal(said(change), 'close')
  assert.equal(change.closeCheckout, state.live?.id)
  // It may be that it cannot be closed: it is waited for.
  assert.deepEqual(change.subscription.nextActionAt, new Date(now.getTime() + 900_000))
  const { state: closed, decided } = decide(waiting, notMade)
  const left = takePayment(closed, decided, at(now))
  assert.equal(planAction(after(closed, left), at(now)).payment?.attempt, 2)
})

/** The database says again that the payment waits for its payer. */
function withPayer(state: SubscriptionState): SubscriptionState {
  return { ...state, live: state.live && { ...state.live, needsPayer: true } }
}

test('case 17: a fault of our own touches no customer, and is tried again in an hour', () => {
  for (const state of [renewing(), retrying(1)]) {
    const change = take(state, ours)
    assert.equal(said(change), 'period 2 open')
    const { actionError, nextActionAt } = change.subscription
    assert.deepEqual([actionError, nextActionAt], [ours.text, march(10, '13:00:05')])
    assert.equal(openOf(change)?.declines, state.open?.declines)
    const { state: standing } = decide(state, ours)
    assert.equal(
      planAction(after(standing, change), at(march(10, '13:00:05'))).payment?.attempt,
      (state.open?.paymentsMade ?? 0) + 1,
    )
  }
})

test('what was a fault is forgotten once the provider has answered', () => {
  const state = renewing({ subscription: { actionError: 'the key has expired' } })
  assert.equal(take(state, soft).subscription.actionError, null)
  assert.equal(take(state, { kind: 'paid' }).subscription.actionError, null)
})

test('case 11: a charge that was never made is made at once; after three in a row, in an hour', () => {
  let state = renewing()
  for (const attempt of [1, 2, 3]) {
    const { state: standing, decided } = decide(state, notMade)
    const change = takePayment(standing, decided, at(later))
    const isFault = attempt === 3
    assert.deepEqual(change.subscription.nextActionAt, isFault ? march(10, '13:00:05') : later)
    assert.equal(change.subscription.actionError !== null, isFault)
    assert.equal(change.subscription.status, 'active')
    state = after(standing, change)
    if (!isFault) state = planned(state, later)
  }
})

test('case 31: without a card the period is told as failed, once, and ends when retries would', () => {
  const state = active({ isCardUsable: false })
  const change = planAction(state, at(start))
  const { periodId, paymentId, attempt, nextAttemptAt, needs } = failure(change)
  assert.deepEqual([paymentId, attempt, nextAttemptAt, needs], [null, 0, null, 'new_card'])
  assert.equal(change.events[0]?.dedupKey, `subscription:payment_failed:${periodId}`)
  const standing = after(state, change)
  assert.equal(said(planAction(standing, at(march(12)))), '')
  assert.equal(
    said(planAction(standing, at(march(17)))),
    'past_due -> canceled | period 2 void | SubscriptionCancelled',
  )
  const given = after(standing, useCard(standing, 'other', at(march(12))))
  assert.equal(planAction(given, at(march(12))).payment?.paymentMethodId, 'other')
})

test('case 31: a card that is gone at a retry is told under a key of its own', () => {
  const change = planAction(pastDue({ isCardUsable: false }), at(march(11)))
  const { periodId } = failure(change)
  assert.equal(change.events[0]?.dedupKey, `subscription:payment_failed:${periodId}/1`)
  const state = after(pastDue({ isCardUsable: false }), change)
  // A card that came and went before it was charged is nothing new.
  const given = useCard(state, 'other', at(march(12)))
  const gone = { ...after(state, given), isCardUsable: false }
  assert.equal(planAction(gone, at(march(12))).events.length, 0)
})

test('case 30: nothing is retried beyond the end of the period', () => {
  const week = { every: { unit: 'week', count: 1 } } as const
  const state = renewing({ subscription: week, open: { endsAt: march(17) } })
  let change = take(state, soft)
  const days: number[] = []
  let standing = after(decide(state, soft).state, change)
  for (let next = openOf(change)?.nextAttemptAt ?? null; next !== null;) {
    days.push((next.getTime() - later.getTime()) / 86_400_000)
    const decided = decide(planned(standing, next), soft)
    change = takePayment(decided.state, decided.decided, at(next))
    standing = after(decided.state, change)
    next = openOf(change)?.nextAttemptAt ?? null
  }
  assert.deepEqual(days, [1, 3, 5])
  assert.equal(change.subscription.status, 'canceled')
})

test('case 16: on hold no retry is made, and dunning waits for it', () => {
  const held = at(march(25), { held: true })
  const change = planAction(pastDue(), held)
  assert.equal(said(change), '')
  assert.deepEqual(change.subscription.nextActionAt, march(25, '12:15:00'))
})

test('a period that went by without a charge, by no fault of the customer, is not charged', () => {
  const state = owing({ open: { nextAttemptAt: march(40) } })
  const change = planAction(state, at(end))
  assert.equal(said(change), 'period 2 void | period 4 open | charge 1')
  const [, opened] = change.periods
  assert.deepEqual([opened?.startsAt, opened?.skippedPeriods], [end, 1])
})

test('case 23: also where the old one was charged for the last time, and waits for its payer', () => {
  const state = retrying(4)
  const given = after(state, useCard(state, 'other', at(march(18))))
  const waiting = withPayer(given)
  const change = planAction(waiting, at(march(18)))
  assert.equal(said(change), 'period 2 open | SubscriptionPaymentFailed')
  assert.deepEqual(failure(change).nextAttemptAt, march(18))
  const asked = withPayer(after(waiting, change))
  assert.equal(said(planAction(asked, at(march(18, '12:15:00')))), 'close')
  const { state: closed, decided } = decide(asked, { ...notMade, paymentMethodId: 'card' })
  const left = takePayment(closed, decided, at(march(19)))
  assert.equal(planAction(after(closed, left), at(march(19))).payment?.paymentMethodId, 'other')
})

test('a card that comes while a page is open leaves it open until the retry that is planned', () => {
  const paying = renewing({
    subscription: { status: 'past_due' },
    open: { firstFailedAt: start, nextAttemptAt: march(12) },
    live: { isPage: true },
  })
  assert.equal(said(useCard(paying, 'other', at(march(11)))), '')
  const kept = take(paying, { kind: 'paid', paymentMethodId: 'saved' })
  assert.equal(kept.subscription.paymentMethodId, 'saved')
  const text = take(paying, ours).subscription.actionError
  assert.equal(text, ours.text)
})

test('case 26: not confirmed, another card is charged at once; a pause goes on', () => {
  const open = { needs: 'confirmation', nextAttemptAt: march(12) } as const
  const dunning = renewing({ subscription: { status: 'past_due', paymentMethodId: 'other' }, open })
  const left = take(dunning, { ...notMade, paymentMethodId: 'card' })
  assert.deepEqual(openOf(left)?.nextAttemptAt, later)
  const resuming = renewing({ subscription: { status: 'paused' }, open: { needs: 'confirmation' } })
  assert.equal(said(take(resuming, notMade)), 'period 2 void')
})

test('case 29: a page that is left is no decline', () => {
  for (const answer of [notMade, soft, ours]) {
    const state = renewing({
      subscription: { status: 'past_due' },
      open: { firstFailedAt: start, nextAttemptAt: march(12), declines: 1 },
      live: { isPage: true },
    })
    const change = take(state, answer)
    assert.equal(said(change), '')
    assert.deepEqual(change.subscription.nextActionAt, march(12))
  }
})

test('case 36: terms that change around a renewal apply from the period after', () => {
  const changed = (state: SubscriptionState) => {
    const result = changeSubscription(state, { amount: 900n, plan: 'pro' }, at(march(9)))
    assert.ok(result.kind === 'changed')
    return after(state, result.change)
  }
  const before = planAction(changed(active()), at(start))
  assert.equal(before.payment?.amount, 900n)
  assert.equal(before.subscription.plan, 'basic', 'not before it is paid')
  const during = changed(renewing())
  const paid = take(during, { kind: 'paid' })
  assert.deepEqual([paid.subscription.amount, paid.subscription.nextTerms?.amount], [500n, 900n])
  const granted = after(decide(during, { kind: 'paid' }).state, paid)
  const next = planAction(granted, at(end))
  assert.equal(next.payment?.amount, 900n)
  const all = take(after(granted, next), { kind: 'paid' }, at(end))
  const { plan, amount, nextTerms } = all.subscription
  assert.deepEqual([plan, amount, nextTerms], ['pro', 900n, null])
})

test('case 36: another length of periods counts from where it begins', () => {
  const result = changeSubscription(active(), { every: { unit: 'week', count: 1 } }, at(march(9)))
  assert.ok(result.kind === 'changed')
  const state = after(active(), result.change)
  const change = planAction(state, at(start))
  assert.deepEqual(openOf(change)?.endsAt, march(17))
  const granted = take(after(state, change), { kind: 'paid' })
  assert.deepEqual(granted.subscription.every, { unit: 'week', count: 1 })
  const next = planAction(after(after(state, change), granted), at(march(17)))
  assert.deepEqual(openOf(next)?.endsAt, march(24))
})
