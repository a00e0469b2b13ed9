import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cancelSubscription } from '../../src/subscriptions/cancel-subscription.ts'
import { owedOf } from '../../src/money/subscription-bill.ts'
import { changeSubscription } from '../../src/subscriptions/change-subscription.ts'
import type { SubscriptionState, WishResult } from '../../src/subscriptions/change.ts'
import { pauseSubscription } from '../../src/subscriptions/pause-subscription.ts'
import { payPeriod } from '../../src/subscriptions/pay-period.ts'
import { planAction } from '../../src/subscriptions/plan-action.ts'
import { resumeSubscription } from '../../src/subscriptions/resume-subscription.ts'
import { takePayment } from '../../src/subscriptions/take-payment.ts'
import { useCard } from '../../src/subscriptions/use-card.ts'
import {
  active,
  after,
  at,
  decide,
  end,
  incomplete,
  march,
  pastDue,
  paused,
  renewing,
  said,
  start,
  trialing,
} from './states.ts'

const atEnd = { at: 'period_end' } as const
const now = { at: 'now' } as const
const soon = at(march(10, '12:00:05'))

const changeOf = (result: WishResult) => {
  assert.ok(result.kind === 'changed', 'carried out')
  return result.change
}
const wished = (state: SubscriptionState, result: WishResult) => after(state, changeOf(result))
const reasonOf = (result: WishResult) => (result.kind === 'refused' ? result.reason : 'changed')
const take = (given: SubscriptionState, answer: Parameters<typeof decide>[1], moment = soon) => {
  const { state, decided } = decide(given, answer)
  return takePayment(state, decided, moment)
}
const unpaid = [
  { kind: 'declined', decline: 'soft' },
  { kind: 'declined', decline: 'hard' },
  { kind: 'not_made' },
  { kind: 'ours', text: 'a key' },
] as const

test('case 32: what ends as was wished says so, whatever became of its charge', () => {
  for (const answer of unpaid) {
    const state = wished(renewing(), cancelSubscription(renewing(), atEnd, soon))
    assert.equal(take(state, answer).subscription.endReason, 'requested')
  }
  const trial = wished(trialing(), cancelSubscription(trialing(), atEnd, at(march(5))))
  const [event] = planAction(trial, at(start)).events
  assert.ok(event?.type === 'TrialEnded' && !event.data.converts)
})

test('case 32: pause now and pay are refused while a charge is undecided', () => {
  const pause = pauseSubscription(renewing(), { at: 'now', until: null }, soon)
  assert.equal(reasonOf(pause), 'renewal_under_way')
  assert.equal(reasonOf(payPeriod(renewing(), soon)), 'renewal_under_way')
  const resuming = renewing({ subscription: { status: 'paused' } })
  assert.equal(reasonOf(resumeSubscription(resuming, soon)), 'renewal_under_way')
})

test('resume takes back a planned end and a planned pause', () => {
  const planned = { cancelAt: start, pauseAt: start, resumeAt: march(20) }
  const change = changeOf(resumeSubscription(active({ subscription: planned }), at(march(9))))
  const { cancelAt, pauseAt, resumeAt } = change.subscription
  assert.deepEqual([cancelAt, pauseAt, resumeAt], [null, null, null])
  assert.deepEqual(change.subscription.nextActionAt, start)
  assert.equal(said(change), '')
})

test('case 35: resumed after paid time, the new period begins when it is paid', () => {
  const state = wished(paused(), resumeSubscription(paused(), at(march(20))))
  const paidAt = march(20, '12:00:09')
  const change = take(state, { kind: 'paid' }, at(paidAt))
  const { anchorAt, anchorNumber, paidUntil } = change.subscription
  assert.deepEqual([anchorAt, anchorNumber, paidUntil], [paidAt, 2, march(51, '12:00:09')])
  const renewed = change.events.find(({ type }) => type === 'SubscriptionRenewed')
  assert.ok(renewed?.type === 'SubscriptionRenewed')
  assert.equal(renewed.data.previousStatus, 'paused')
})

test('after a pause that took an open period with it, numbers go on and time follows', () => {
  // The clock was ahead: the period was opened too early, and paid time is left.
  const state = wished(
    pastDue(),
    pauseSubscription(pastDue(), { at: 'now', until: null }, at(march(9))),
  )
  const resumed = wished(state, resumeSubscription(state, at(march(9))))
  assert.equal(resumed.subscription.status, 'active')
  const [period] = planAction(resumed, at(start)).periods
  assert.deepEqual([period?.number, period?.startsAt, period?.endsAt], [3, start, end])
})

test('a pause ends at its time, and no earlier than it begins', () => {
  const until = march(20)
  const state = wished(
    active(),
    pauseSubscription(active(), { at: 'period_end', until }, at(march(9))),
  )
  const pausing = planAction(state, at(start))
  assert.equal(said(pausing), 'active -> paused | SubscriptionPaused')
  const [event] = pausing.events
  assert.ok(event?.type === 'SubscriptionPaused')
  assert.deepEqual(event.data, { reason: 'requested', resumesAt: until })
  assert.equal(said(planAction(after(state, pausing), at(until))), 'period 2 open | charge 1')
  for (const given of [active(), paused()]) {
    const early = pauseSubscription(given, { at: 'period_end', until: march(9) }, at(march(9)))
    assert.match(early.kind === 'refused' ? early.text : '', /before it begins on \d{4}-/)
    assert.deepEqual(
      [reasonOf(early), early.kind === 'refused' && early.field],
      ['subscription_invalid', 'until'],
    )
  }
})

test('paused again, what was to end the pause is not charged any more', () => {
  const onHold = resumeSubscription(paused(), at(march(20), { held: true }))
  const resuming = wished(paused(), onHold)
  assert.equal(resuming.open?.state, 'open', 'it waits for its charge')
  const until = march(30)
  for (const wish of [now, atEnd]) {
    const change = changeOf(pauseSubscription(resuming, { ...wish, until }, at(march(21))))
    assert.equal(said(change), 'period 2 void')
    assert.deepEqual(change.subscription.nextActionAt, until)
  }
  const charging = wished(resuming, resumeSubscription(resuming, at(march(20))))
  assert.notEqual(charging.live, null)
  for (const wish of [now, atEnd]) {
    const result = pauseSubscription(charging, { ...wish, until }, at(march(20)))
    assert.equal(reasonOf(result), 'renewal_under_way')
  }
})

test('a pause is moved to no end that has passed', () => {
  const result = pauseSubscription(paused(), { at: 'now', until: march(19) }, at(march(20)))
  assert.equal(reasonOf(result), 'subscription_invalid')
})

test('nothing is paused that was never paid', () => {
  for (const state of [trialing(), incomplete()]) {
    const result = pauseSubscription(state, { at: 'now', until: null }, at(march(5)))
    assert.equal(reasonOf(result), 'subscription_invalid')
  }
})

test('a trial’s end that is moved to where it was is not announced again', () => {
  const moment = (day: number) => at(march(day), { trialNoticeDays: [3] })
  const told = after(trialing(), planAction(trialing(), moment(8)))
  const same = wished(told, changeSubscription(told, { trialEndsAt: start }, moment(9)))
  assert.equal(said(planAction(same, moment(9))), '')
  const other = wished(told, changeSubscription(told, { trialEndsAt: march(11) }, moment(9)))
  assert.equal(said(planAction(other, moment(9))), 'period 0 free | TrialWillEnd')
})

test('the notice of an end says whether it goes on then: not without a card, and not as planned', () => {
  const moment = at(march(8), { periodNoticeDays: [3] })
  const renewsOf = (state: SubscriptionState) =>
    planAction(state, moment).events.map(({ data }) => 'renews' in data && data.renews)
  const canceled = wished(active(), cancelSubscription(active(), atEnd, at(march(5))))
  const states = [active(), active({ isCardUsable: false }), canceled]
  assert.deepEqual(states.map(renewsOf), [[true], [false], [false]])
})

test('a trial’s end can be moved, and with it what is planned and paid in advance', () => {
  const opened = wished(trialing(), payPeriod(trialing(), at(march(5))))
  const canceled = wished(opened, cancelSubscription(opened, atEnd, at(march(5))))
  const moved = wished(
    canceled,
    changeSubscription(canceled, { trialEndsAt: march(20) }, at(march(6))),
  )
  assert.deepEqual(moved.subscription.cancelAt, march(20))
  assert.deepEqual([moved.current?.endsAt, moved.open?.startsAt], [march(20), march(20)])
  assert.deepEqual(moved.open?.nominalStartsAt, start, 'it keeps its name')
  const ended = wished(
    trialing(),
    changeSubscription(trialing(), { trialEndsAt: march(1) }, at(march(6))),
  )
  assert.deepEqual(ended.subscription.trialEndsAt, march(6))
  assert.equal(said(planAction(ended, at(march(6)))), 'period 1 open | charge 1 | TrialEnded')
  const late = changeSubscription(active(), { trialEndsAt: march(20) }, at(march(6)))
  assert.deepEqual(
    [reasonOf(late), late.kind === 'refused' && late.field],
    ['subscription_invalid', 'trialEndsAt'],
  )
})

test('a change that is taken back before it applies leaves nothing', () => {
  const state = wished(active(), changeSubscription(active(), { amount: 900n }, at(march(5))))
  assert.equal(state.subscription.nextTerms?.amount, 900n)
  const back = wished(state, changeSubscription(state, { amount: 500n }, at(march(6))))
  assert.equal(back.subscription.nextTerms, null)
})

test('the quotas of a plan are due once its first period is granted, unless they are kept', () => {
  const planQuotas = { seats: { limit: 9n }, old: null }
  const changed = (state: SubscriptionState, changes: Parameters<typeof changeSubscription>[1]) =>
    wished(state, changeSubscription(state, changes, at(march(5))))
  const pro = { plan: 'pro', amount: 900n }
  const planned = changed(active(), { ...pro, planQuotas })
  assert.equal(planned.subscription.dueQuotas, null, 'not before')
  const paidIn = (state: SubscriptionState) => {
    const renewed = after(state, planAction(state, at(start)))
    return { renewed, paid: take(renewed, { kind: 'paid' }) }
  }
  const { renewed, paid } = paidIn(planned)
  assert.deepEqual(paid.subscription.dueQuotas, planQuotas)
  assert.deepEqual(paid.subscription.nextActionAt, soon.now, 'they are given at once')
  assert.equal(take(renewed, unpaid[0]).subscription.dueQuotas, null, 'not paid')
  // Another change of the same period keeps them; one of the plan has its own, or none.
  const dearer = changed(planned, { amount: 1_000n })
  assert.deepEqual(paidIn(dearer).paid.subscription.dueQuotas, planQuotas)
  assert.equal(paidIn(changed(planned, pro)).paid.subscription.dueQuotas, null)
  assert.equal(changed(planned, { plan: 'basic', amount: 500n }).subscription.nextTerms, null)
  // They are kept, also where its period is open already.
  for (const state of [
    changed(renewed, { planQuotas: null }),
    paidIn(changed(planned, { planQuotas: null })).renewed,
  ]) {
    assert.equal(take(state, { kind: 'paid' }).subscription.dueQuotas, null)
  }
  // The period that they come with is open already: they are taken over with its terms.
  assert.deepEqual(changed(renewed, { amount: 1_000n }).subscription.dueQuotas, planQuotas)
})

test('nothing is to be paid where nothing is owed', () => {
  assert.equal(reasonOf(payPeriod(active(), at(march(5)))), 'subscription_invalid')
  const free = trialing({ subscription: { amount: 0n } })
  assert.equal(reasonOf(payPeriod(free, at(march(5)))), 'subscription_invalid')
})

test('what has just been canceled is not paid for once more, until that is taken back', () => {
  const paying = wished(trialing(), payPeriod(trialing(), at(march(5))))
  const { state: left } = decide(paying, { kind: 'not_made' })
  for (const [state, moment] of [
    [trialing(), at(march(5))],
    [left, at(march(5))],
    // Its end is due, and no worker has come by.
    [active(), at(march(9))],
  ] as const) {
    const canceled = wished(state, cancelSubscription(state, atEnd, moment))
    const late = at(march(11))
    const pressed = payPeriod(canceled, state.subscription.status === 'active' ? late : moment)
    assert.equal(reasonOf(pressed), 'subscription_invalid')
    assert.equal(owedOf(canceled, late.now), null)
  }
  const canceled = wished(trialing(), cancelSubscription(trialing(), atEnd, at(march(5))))
  const resumed = wished(canceled, resumeSubscription(canceled, at(march(5))))
  assert.equal(said(changeOf(payPeriod(resumed, at(march(5))))), 'period 1 open | page')
})

test('what has ended takes no wish', () => {
  const state = wished(active(), cancelSubscription(active(), now, at(march(5))))
  const moment = at(march(6))
  const results = [
    cancelSubscription(state, now, moment),
    pauseSubscription(state, { at: 'now', until: null }, moment),
    resumeSubscription(state, moment),
    changeSubscription(state, { amount: 900n }, moment),
    payPeriod(state, moment),
  ]
  for (const result of results) assert.equal(reasonOf(result), 'subscription_ended')
  assert.equal(said(useCard(state, 'other', moment)), '')
})
