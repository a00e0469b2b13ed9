import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginSubscription } from '../../src/subscriptions/begin-subscription.ts'
import { cancelUnbegun } from '../../src/subscriptions/cancel-subscription.ts'
import type { NewSubscription, SubscriptionState } from '../../src/subscriptions/change.ts'
import { planAction } from '../../src/subscriptions/plan-action.ts'
import { takePayment } from '../../src/subscriptions/take-payment.ts'
import { planUnbegun } from '../../src/subscriptions/plan-without-answer.ts'
import { useCard } from '../../src/subscriptions/use-card.ts'
import { after, at, decide, input, march, said, start } from './states.ts'

const managed: NewSubscription = { ...input, managedBy: 'provider', paymentMethodId: null }
const none: SubscriptionState = {
  subscription: { ...managed, ...({} as SubscriptionState['subscription']) },
  open: null,
  current: null,
  live: null,
  lastNumber: -1,
  isCardUsable: false,
}
/** Its checkout is open, until a day after it was made unless another end is given. */
const begun = (
  fields: Partial<NewSubscription> = {},
  expiresAt: Date | null = march(11),
): SubscriptionState => {
  const state = after(none, beginSubscription({ ...managed, ...fields }, at(start)))
  return facts({ ...state, live: state.live && { ...state.live, expiresAt } })
}
/** As the database has it. */
const facts = (state: SubscriptionState): SubscriptionState => {
  const periods = [state.current, state.open].filter((one) => one !== null)
  return { ...state, managed: { termsBy: 'us', isAnnounced: false, periods } }
}
const take = (
  given: SubscriptionState,
  kind: 'paid' | 'not_made' | 'declined',
  more: Record<string, unknown> = {},
) => {
  const { state, decided } = decide(given, { kind, ...more })
  return takePayment(state, decided, at(march(10, '12:00:05')))
}
const inTrial = { trialEndsAt: march(24) }
const linked = (state: SubscriptionState): SubscriptionState => ({
  ...state,
  subscription: { ...state.subscription, providerReference: 'sub_1' },
})

test('one that the provider is to manage begins incomplete, with the checkout of its first period', () => {
  const change = beginSubscription(managed, at(start))
  assert.equal(said(change), 'new -> incomplete | period 1 open | page')
  assert.equal(change.payment?.amount, 500n)
  // Charges on hold are those of ours.
  const held = beginSubscription(managed, at(start, { held: true }))
  assert.equal(said(held), 'new -> incomplete | period 1 open | page')
})

test('before a trial the checkout is of the trial, and takes nothing', () => {
  const change = beginSubscription({ ...managed, ...inTrial }, at(start))
  assert.equal(said(change), 'new -> incomplete | period 0 open | page')
  const [period] = change.periods
  assert.deepEqual(
    [period?.kind, period?.amount, period?.startsAt, period?.endsAt, change.payment?.amount],
    ['trial', 0n, start, march(24), 0n],
  )
})

test('what is paid with nothing gives the trial alone: the provider says when it has begun', () => {
  const change = take(begun(inTrial), 'paid')
  assert.equal(said(change), 'period 0 free')
  assert.deepEqual(
    [change.subscription.status, change.subscription.paidUntil, change.events],
    ['incomplete', null, []],
  )
  const given = facts(after(begun(inTrial), change))
  assert.equal(planUnbegun({ ...given, live: null }, at(march(20))), null)
  // It was said before by the provider that the trial has begun.
  const period = { ...change.periods[0], state: 'free' } as SubscriptionState['current']
  const known = facts({ ...begun(inTrial), open: null, live: null, current: period })
  const { decided } = decide(begun(inTrial), { kind: 'paid' })
  assert.ok(period)
  assert.equal(said(takePayment(known, { ...decided, period }, at(start))), '')
})

test('a trial that was given up and is begun at the provider after all is for a person', () => {
  const state = begun(inTrial)
  const { decided } = decide(state, { kind: 'paid' })
  const ended = facts(after(state, take(state, 'not_made')))
  const period = { ...decided.period, state: 'void' } as const
  const change = takePayment({ ...ended, live: null }, { ...decided, period }, at(start))
  assert.equal(said(change), 'period_void')
})

test('its checkout was the only one: once that is canceled it ends', () => {
  for (const fields of [{}, inTrial]) {
    const change = take(begun(fields), 'not_made')
    assert.match(said(change), /^incomplete -> canceled \| period . void \| SubscriptionCancelled$/)
    assert.equal(change.subscription.endReason, 'incomplete')
    assert.equal(change.subscription.nextActionAt, null)
  }
})

test('one that its provider knows of is not ended by its checkout, nor by our clock', () => {
  const state = linked(begun())
  assert.equal(said(take(state, 'not_made')), '')
  assert.equal(planUnbegun({ ...state, live: null }, at(march(20))), null)
  assert.equal(said(planAction({ ...state, live: null }, at(march(20)))), '')
})

test('case 37: after its hours an open checkout is closed first, and only then it ends', () => {
  const state = begun({}, march(20))
  assert.deepEqual(state.subscription.nextActionAt, march(11))
  const waiting = planUnbegun(state, at(march(11, '11:59:59')))
  assert.deepEqual([waiting && said(waiting), waiting?.subscription.nextActionAt], ['', march(11)])
  const closing = planUnbegun(state, at(march(11)))
  assert.deepEqual(
    [closing && said(closing), closing?.subscription.nextActionAt],
    ['close', march(11, '12:15:00')],
  )
  const over = planUnbegun({ ...state, live: null }, at(march(11)))
  assert.ok(over)
  assert.equal(said(over), 'incomplete -> canceled | period 1 void | SubscriptionCancelled')
  assert.equal(over.subscription.nextActionAt, null)
  // A checkout that ends sooner is looked at then.
  const sooner = planUnbegun(begun({}, march(10, '13:00:00')), at(march(10, '13:00:00')))
  assert.equal(sooner && said(sooner), 'close')
})

test('no card of ours is ever charged for it', () => {
  const state = begun()
  assert.equal(said(useCard(state, 'card', at(start))), '')
  const paidWithCard = take(state, 'paid', { paymentMethodId: 'card' })
  assert.equal(paidWithCard.subscription.paymentMethodId, null)
  const failing = { ...state, open: state.open && { ...state.open, nextAttemptAt: start } }
  assert.equal(said(planAction({ ...failing, live: null, isCardUsable: true }, at(start))), '')
  const active = linked({
    ...state,
    open: null,
    live: null,
    current: state.open,
    subscription: { ...state.subscription, status: 'active', paidUntil: march(11) },
  })
  assert.equal(said(planAction({ ...active, isCardUsable: true }, at(march(30)))), '')
})

test('canceled before it has begun it ends at once, as was wished', () => {
  const ended = cancelUnbegun({ ...begun(), live: null }, at(start))
  assert.ok(ended.kind === 'changed')
  assert.equal(said(ended.change), 'incomplete -> canceled | period 1 void | SubscriptionCancelled')
  assert.equal(ended.change.subscription.endReason, 'requested')
  const state = begun(inTrial)
  const given = facts({ ...after(state, take(state, 'paid')), live: null })
  for (const [begunMeanwhile, reason] of [
    [linked(begun()), 'renewal_under_way'],
    [given, 'renewal_under_way'],
    [facts(after(begun(), take(begun(), 'not_made'))), 'subscription_ended'],
  ] as const) {
    const refused = cancelUnbegun(begunMeanwhile, at(start))
    assert.ok(refused.kind === 'refused')
    assert.equal(refused.reason, reason)
  }
})
