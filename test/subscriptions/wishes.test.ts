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
  owing,
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

test('case 32: canceled at the period’s end during a charge: paid, it ends with the new period', () => {
  const state = wished(renewing(), cancelSubscription(renewing(), atEnd, soon))
  const change = take(state, { kind: 'paid' })
  assert.equal(said(change), 'period 2 paid | SubscriptionRenewed')
  assert.deepEqual(change.subscription.cancelAt, end)
  const { state: standing } = decide(state, { kind: 'paid' })
  assert.equal(
    said(planAction(after(standing, change), at(end))),
    'active -> canceled | SubscriptionCancelled',
  )
})

for (const answer of unpaid) {
  test(`case 32: canceled at the period’s end during a charge: ${answer.kind}, it ends at once`, () => {
    const state = wished(renewing(), cancelSubscription(renewing(), atEnd, soon))
    const change = take(state, answer)
    assert.equal(said(change), 'active -> canceled | period 2 void | SubscriptionCancelled')
    assert.equal(change.subscription.endReason, 'requested')
  })
}

test('case 32: canceled during a charge that then waits for its payer: it ends at once', () => {
  const state = wished(renewing(), cancelSubscription(renewing(), atEnd, soon))
  const waiting = { ...state, live: state.live && { ...state.live, needsPayer: true } }
  assert.equal(
    said(planAction(waiting, soon)),
    'active -> canceled | period 2 void | close | SubscriptionCancelled',
  )
})

test('case 32: canceled now during a charge: at once; paid later, a person looks at it', () => {
  const change = changeOf(cancelSubscription(renewing(), now, soon))
  assert.equal(said(change), 'active -> canceled | period 2 void | SubscriptionCancelled')
  const [period] = change.periods
  const { decided } = decide(renewing(), { kind: 'paid' })
  assert.ok(period)
  const late = takePayment(after(renewing(), change), { ...decided, period }, soon)
  assert.equal(said(late), 'period_void')
  assert.equal(late.subscription.status, 'canceled')
})

test('case 32: an open page is closed with the cancellation', () => {
  const state = pastDueOnPage()
  assert.match(said(changeOf(cancelSubscription(state, now, soon))), /close/)
  const planned = changeOf(cancelSubscription(state, atEnd, soon))
  assert.equal(said(planned), 'close', 'it ends when the page is closed, unless it was paid')
  const left = take(after(state, planned), { kind: 'not_made' })
  assert.equal(said(left), 'past_due -> canceled | period 2 void | SubscriptionCancelled')
})

function pastDueOnPage(): SubscriptionState {
  return renewing({
    subscription: { status: 'past_due' },
    open: { firstFailedAt: start, nextAttemptAt: march(12) },
    live: { isPage: true },
  })
}

test('case 32: pause now and pay are refused while a charge is undecided', () => {
  const pause = pauseSubscription(renewing(), { at: 'now', until: null }, soon)
  assert.equal(reasonOf(pause), 'renewal_under_way')
  assert.equal(reasonOf(payPeriod(renewing(), soon)), 'renewal_under_way')
  const resuming = renewing({ subscription: { status: 'paused' } })
  assert.equal(reasonOf(resumeSubscription(resuming, soon)), 'renewal_under_way')
})

test('case 32: a pause planned during a charge: paid, with the new period; not paid, at once', () => {
  const wish = { at: 'period_end', until: null } as const
  const state = wished(renewing(), pauseSubscription(renewing(), wish, soon))
  assert.deepEqual(take(state, { kind: 'paid' }).subscription.pauseAt, end)
  for (const answer of unpaid) {
    assert.equal(said(take(state, answer)), 'active -> paused | period 2 void | SubscriptionPaused')
  }
})

test('case 32: a wish before the payment’s row wins: nothing is charged', () => {
  const state = wished(active(), cancelSubscription(active(), atEnd, at(march(9))))
  assert.deepEqual(state.subscription.cancelAt, start)
  assert.equal(planAction(state, at(start)).payment, null)
  assert.equal(
    said(changeOf(cancelSubscription(active(), atEnd, at(march(11))))),
    'active -> canceled | SubscriptionCancelled',
  )
})

test('canceled at the period’s end with nothing paid left: at once', () => {
  for (const state of [pastDue(), paused(), incomplete(), owing()]) {
    const change = changeOf(cancelSubscription(state, atEnd, at(march(11))))
    assert.equal(change.subscription.status, 'canceled')
  }
})

test('case 33: a trial is canceled at its end, without a charge; now, at once', () => {
  const state = wished(trialing(), cancelSubscription(trialing(), atEnd, at(march(5))))
  assert.equal(said(planAction(state, at(march(9)))), '')
  const ended = planAction(state, at(start))
  assert.equal(said(ended), 'trialing -> canceled | TrialEnded | SubscriptionCancelled')
  const [event] = ended.events
  assert.ok(event?.type === 'TrialEnded' && !event.data.converts)
  assert.equal(
    said(changeOf(cancelSubscription(trialing(), now, at(march(5))))),
    'trialing -> canceled | SubscriptionCancelled',
  )
})

test('resume takes back a planned end and a planned pause', () => {
  const planned = { cancelAt: start, pauseAt: start, resumeAt: march(20) }
  const change = changeOf(resumeSubscription(active({ subscription: planned }), at(march(9))))
  const { cancelAt, pauseAt, resumeAt } = change.subscription
  assert.deepEqual([cancelAt, pauseAt, resumeAt], [null, null, null])
  assert.deepEqual(change.subscription.nextActionAt, start)
  assert.equal(said(change), '')
})

test('case 35: resumed within paid time it goes on, and renews when that is over', () => {
  const state = wished(
    active(),
    pauseSubscription(active(), { at: 'now', until: null }, at(march(5))),
  )
  const resumed = wished(state, resumeSubscription(state, at(march(8))))
  assert.deepEqual(resumed.subscription.nextActionAt, start)
  const change = planAction(resumed, at(start))
  assert.equal(said(change), 'period 2 open | charge 1')
  assert.deepEqual(change.periods[0]?.startsAt, start)
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

test('case 35: a pause is ended by a payment on the page, too', () => {
  const state = wished(paused(), payPeriod(paused(), at(march(20))))
  assert.equal(
    said(take(state, { kind: 'paid' }, at(march(20)))),
    'paused -> active | period 2 paid | SubscriptionResumed | SubscriptionRenewed',
  )
  assert.equal(said(take(state, { kind: 'not_made' })), 'period 2 void', 'a page that is left')
})

test('a page on which a pause was to end, declined and over, leaves nothing that is owed', () => {
  const state = wished(paused(), payPeriod(paused(), at(march(20))))
  // It was closed here: no payment has moved by that.
  const left = { ...state, live: null }
  const saved = after(left, useCard(left, 'other', at(march(21))))
  assert.equal(said(planAction(saved, at(march(21)))), 'period 2 void', 'it stays paused')
  const ended = after(left, planAction(left, at(march(21))))
  assert.equal(ended.subscription.nextActionAt, null)
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

test('case 34: in a trial the first period is paid in advance; a page that is left changes nothing', () => {
  const state = wished(trialing(), payPeriod(trialing(), at(march(5))))
  assert.deepEqual(state.open?.startsAt, start)
  assert.equal(said(take(state, { kind: 'not_made' }, at(march(5)))), '')
  const { state: left } = decide(state, { kind: 'not_made' })
  assert.equal(said(planAction(left, at(march(9)))), '', 'no card is charged in a trial')
  assert.equal(said(planAction(left, at(start))), 'period 1 open | charge 2 | TrialEnded')
  const saved = useCard(left, 'other', at(march(6)))
  assert.equal(planAction(after(left, saved), at(march(6))).payment, null)
})

test('case 34: a page that is live at the trial’s end is closed for the card, or waited for', () => {
  const state = wished(trialing(), payPeriod(trialing(), at(march(10, '11:30:00'))))
  assert.equal(said(planAction(state, at(start))), 'close')
  const without = { ...state, isCardUsable: false }
  assert.equal(said(planAction(without, at(start))), '')
  const { state: left } = decide(without, { kind: 'not_made' })
  assert.match(said(planAction(left, at(start))), /^trialing -> canceled/)
})

test('case 34: a trial whose first period is owed needs a card, whatever the second one costs', () => {
  const opened = wished(trialing(), payPeriod(trialing(), at(march(5))))
  const left = { ...opened, live: null, isCardUsable: false }
  const state = wished(left, changeSubscription(left, { amount: 0n }, at(march(6))))
  assert.equal(
    said(planAction(state, at(start))),
    'trialing -> canceled | period 1 void | TrialEnded | SubscriptionCancelled',
  )
})

test('a trial’s end that is moved to where it was is not announced again', () => {
  const moment = (day: number) => at(march(day), { trialNoticeDays: [3] })
  const told = after(trialing(), planAction(trialing(), moment(8)))
  const same = wished(told, changeSubscription(told, { trialEndsAt: start }, moment(9)))
  assert.equal(said(planAction(same, moment(9))), '')
  const other = wished(told, changeSubscription(told, { trialEndsAt: march(11) }, moment(9)))
  assert.equal(said(planAction(other, moment(9))), 'period 0 free | TrialWillEnd')
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
