import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginSubscription } from '../../src/subscriptions/begin-subscription.ts'
import { cancelSubscription } from '../../src/subscriptions/cancel-subscription.ts'
import type {
  SubscriptionChange,
  SubscriptionState,
  WishResult,
} from '../../src/subscriptions/change.ts'
import { pauseSubscription } from '../../src/subscriptions/pause-subscription.ts'
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
  input,
  march,
  owing,
  pastDue,
  paused,
  renewing,
  said,
  start,
  trialing,
} from './states.ts'

const take = (
  given: SubscriptionState,
  answer: Parameters<typeof decide>[1],
  moment = at(march(10, '12:00:05')),
) => {
  const { state, decided } = decide(given, answer)
  return takePayment(state, decided, moment)
}
const soft = { kind: 'declined', decline: 'soft' } as const
const paid = { kind: 'paid' } as const
const changeOf = (result: WishResult): SubscriptionChange => {
  assert.ok(result.kind === 'changed')
  return result.change
}
/** The renewal of a pause that is being charged. */
const resuming = renewing({ subscription: { status: 'paused' } })
const weekOver = at(march(17, '12:00:05'))
const afterTrial = renewing({
  subscription: { status: 'trialing', paidUntil: null, trialEndsAt: start },
})

/** Its payer must confirm the charge, and there is no grace. */
const confirming = { subscription: { graceAccess: false }, live: { needsPayer: true } }

/** Section 4 of the design: from, moved by, what it becomes and which events it fires. */
const rows: readonly [string, () => SubscriptionChange, string][] = [
  [
    'one with a card is made incomplete, and its first period is charged',
    () => beginSubscription(input, at(start)),
    'new -> incomplete | period 1 open | charge 1',
  ],
  [
    'one without a card is made incomplete, and its first period is paid on a page',
    () => beginSubscription({ ...input, paymentMethodId: null }, at(start)),
    'new -> incomplete | period 1 open | page',
  ],
  [
    'one with a trial is made trialing, and nothing is charged',
    () => beginSubscription({ ...input, trialEndsAt: march(20) }, at(start)),
    'new -> trialing | period 0 free | SubscriptionCreated',
  ],
  [
    'one that was paid elsewhere is made active, and nothing is charged',
    () => beginSubscription({ ...input, paidUntil: march(20) }, at(start)),
    'new -> active | period 0 free | SubscriptionCreated',
  ],
  [
    'case 38: one that costs nothing is active at once, without a payment',
    () => beginSubscription({ ...input, amount: 0n }, at(start)),
    'new -> active | period 1 paid | SubscriptionRenewed',
  ],
  [
    'while charges are on hold the first period waits',
    () => beginSubscription(input, at(start, { held: true })),
    'new -> incomplete | period 1 open',
  ],
  [
    'an incomplete one is paid',
    () => take(incomplete({ live: {} }), paid),
    'incomplete -> active | period 1 paid | SubscriptionRenewed',
  ],
  [
    'one after its trial is paid',
    () => take(afterTrial, paid),
    'trialing -> active | period 2 paid | SubscriptionRenewed',
  ],
  ['an active one is paid', () => take(renewing(), paid), 'period 2 paid | SubscriptionRenewed'],
  [
    'one that was past due is paid',
    () =>
      take(
        renewing({ subscription: { status: 'past_due' }, open: { firstFailedAt: start } }),
        paid,
      ),
    'past_due -> active | period 2 paid | SubscriptionRenewed',
  ],
  [
    'an incomplete one whose charge is declined stays so, without a retry',
    () => take(incomplete({ live: {} }), soft),
    'period 1 open',
  ],
  [
    'an incomplete one gets another card: it is charged',
    () => {
      const state = incomplete()
      return planAction(after(state, useCard(state, 'other', at(start))), at(start))
    },
    'period 1 open | charge 2',
  ],
  [
    'case 37: an incomplete one is canceled after its hours',
    () => planAction(incomplete(), at(march(11))),
    'incomplete -> canceled | period 1 void | SubscriptionCancelled',
  ],
  [
    'case 37: in the last minute it is not',
    () => planAction(incomplete(), at(march(11, '11:59:59'))),
    '',
  ],
  [
    'case 37: nor later, while its page is live',
    () => planAction(incomplete({ live: { isPage: true } }), at(march(11))),
    '',
  ],
  [
    'case 37: a page of the last minute is paid later',
    () => take(incomplete({ live: { isPage: true } }), paid, at(march(11, '12:30:00'))),
    'incomplete -> active | period 1 paid | SubscriptionRenewed',
  ],
  [
    'a trial ends, its card is there: the first period is charged',
    () => planAction(trialing(), at(start)),
    'period 1 open | charge 1 | TrialEnded',
  ],
  [
    'a trial ends without a card: so does the subscription',
    () => planAction(trialing({ isCardUsable: false }), at(start)),
    'trialing -> canceled | TrialEnded | SubscriptionCancelled',
  ],
  [
    'case 33: a trial that was canceled ends without a charge',
    () => planAction(trialing({ subscription: { cancelAt: start } }), at(start)),
    'trialing -> canceled | TrialEnded | SubscriptionCancelled',
  ],
  [
    'a trial that costs nothing afterwards needs no card',
    () => planAction(trialing({ subscription: { amount: 0n }, isCardUsable: false }), at(start)),
    'trialing -> active | period 1 paid | TrialEnded | SubscriptionRenewed',
  ],
  [
    'what is paid is over: the next period is opened and charged',
    () => planAction(active(), at(start)),
    'period 2 open | charge 1',
  ],
  ['before that it is not', () => planAction(active(), at(march(10, '11:59:59'))), ''],
  [
    'case 16: while charges are on hold it is not',
    () => planAction(active(), at(start, { held: true })),
    '',
  ],
  [
    'a renewal is declined',
    () => take(renewing(), soft),
    'active -> past_due | period 2 open | SubscriptionPaymentFailed',
  ],
  [
    'case 28: a renewal is declined, and there is no grace',
    () => take(renewing({ subscription: { graceAccess: false } }), soft),
    'active -> past_due | period 2 open | SubscriptionPaymentFailed | SubscriptionAccessSuspended',
  ],
  [
    'case 28: it is declined again, and was suspended already',
    () =>
      take(
        renewing({
          subscription: { status: 'past_due', graceAccess: false, suspendedAt: start },
          open: { firstFailedAt: start, declines: 1, paymentsMade: 2 },
        }),
        soft,
      ),
    'period 2 open | SubscriptionPaymentFailed',
  ],
  [
    'case 26: the bank wants the payer to confirm a renewal',
    () => planAction(renewing({ live: { needsPayer: true } }), at(start)),
    'active -> past_due | period 2 open | SubscriptionPaymentFailed',
  ],
  [
    'case 28: the bank wants that, and there is no grace',
    () => planAction(renewing(confirming), at(start)),
    'active -> past_due | period 2 open | SubscriptionPaymentFailed | SubscriptionAccessSuspended',
  ],
  [
    'case 28: not confirmed, it is told and suspended no second time',
    () => {
      const waiting = after(renewing(confirming), planAction(renewing(confirming), at(start)))
      return take({ ...waiting, live: renewing(confirming).live }, soft)
    },
    'period 2 open',
  ],
  [
    'case 30: a day’s is over with its first decline',
    () => {
      const every = { unit: 'day', count: 1 } as const
      return take(renewing({ subscription: { every }, open: { endsAt: march(11) } }), soft)
    },
    'active -> canceled | period 2 void | SubscriptionCancelled',
  ],
  [
    'case 38: what costs nothing is renewed without a payment or a card',
    () => planAction(active({ subscription: { amount: 0n }, isCardUsable: false }), at(start)),
    'period 2 paid | SubscriptionRenewed',
  ],
  [
    'case 31: there is no card for a renewal',
    () => planAction(active({ isCardUsable: false }), at(start)),
    'active -> past_due | period 2 open | SubscriptionPaymentFailed',
  ],
  [
    'the first charge after a trial is declined',
    () => take(afterTrial, soft),
    'trialing -> past_due | period 2 open | SubscriptionPaymentFailed',
  ],
  [
    'case 21: the last retry is declined',
    () =>
      take(
        renewing({ subscription: { status: 'past_due' }, open: { firstFailedAt: start } }),
        soft,
        weekOver,
      ),
    'past_due -> canceled | period 2 void | SubscriptionCancelled',
  ],
  [
    'the last retry is declined, and who does not pay is paused',
    () =>
      take(
        renewing({ subscription: { status: 'past_due' }, open: { firstFailedAt: start } }),
        soft,
        at(weekOver.now, { onUnpaid: 'pause' }),
      ),
    'past_due -> paused | period 2 void | SubscriptionPaused',
  ],
  [
    'dunning is over, by the clock',
    () => planAction(pastDue({ open: { nextAttemptAt: null, needs: 'new_card' } }), at(march(17))),
    'past_due -> canceled | period 2 void | SubscriptionCancelled',
  ],
  [
    'a planned pause begins',
    () => planAction(active({ subscription: { pauseAt: start } }), at(start)),
    'active -> paused | SubscriptionPaused',
  ],
  [
    'one that is past due is paused now',
    () => changeOf(pauseSubscription(pastDue(), { at: 'now', until: null }, at(march(11)))),
    'past_due -> paused | period 2 void | SubscriptionPaused',
  ],
  [
    'case 35: a pause is ended within paid time',
    () => changeOf(resumeSubscription(paused(), at(march(9)))),
    'paused -> active | SubscriptionResumed',
  ],
  [
    'case 35: a pause is ended after it: a new period is charged',
    () => changeOf(resumeSubscription(paused(), at(march(20)))),
    'period 2 open | charge 1',
  ],
  [
    'a pause ends by itself',
    () => planAction(paused({ subscription: { resumeAt: march(20) } }), at(march(20))),
    'period 2 open | charge 1',
  ],
  [
    'case 35: the new period is paid',
    () => take(resuming, paid),
    'paused -> active | period 2 paid | SubscriptionResumed | SubscriptionRenewed',
  ],
  [
    'case 35: the new period is declined',
    () => take(resuming, soft),
    'period 2 void | SubscriptionPaymentFailed',
  ],
  [
    'it is canceled now',
    () => changeOf(cancelSubscription(active(), { at: 'now' }, at(march(9)))),
    'active -> canceled | SubscriptionCancelled',
  ],
  [
    'a planned end comes',
    () => planAction(active({ subscription: { cancelAt: start } }), at(start)),
    'active -> canceled | SubscriptionCancelled',
  ],
  [
    'what was canceled is paid: somebody looks at it',
    () => {
      const { state, decided } = decide(renewing(), paid)
      const canceled = after(state, changeOf(cancelSubscription(state, { at: 'now' }, at(start))))
      const period = { ...decided.period, state: 'void' } as const
      return takePayment(canceled, { ...decided, period }, at(start))
    },
    'period_void',
  ],
  [
    'what was canceled does nothing any more',
    () => {
      const change = changeOf(cancelSubscription(active(), { at: 'now' }, at(march(9))))
      return planAction(after(active(), change), at(march(200)))
    },
    '',
  ],
]
for (const [what, decided, expected] of rows) {
  test(`${what}: ${expected === '' ? 'nothing' : expected}`, () => {
    assert.equal(said(decided()), expected)
  })
}

/** The second table: a payment that is decided, and the state of its period. */
test('a payment for the open period grants it, a second one is for a person', () => {
  const { state, decided } = decide(renewing(), paid)
  const granted = takePayment(state, decided, at(start))
  const [period] = granted.periods
  assert.ok(period)
  const again = (id: string) =>
    takePayment(after(state, granted), { ...decided, id, period }, at(start))
  assert.equal(said(again(decided.id)), '')
  assert.equal(said(again('another')), 'period_paid_twice')
})

for (const state of ['paid', 'void'] as const) {
  for (const answer of [soft, { kind: 'not_made' }, { kind: 'ours', text: 'a key' }] as const) {
    test(`a payment that is ${answer.kind} changes nothing of a period that is ${state}`, () => {
      const { state: standing, decided } = decide(renewing(), answer)
      const period = { ...decided.period, state }
      const change = takePayment({ ...standing, open: null }, { ...decided, period }, at(start))
      assert.equal(said(change), '')
    })
  }
}

test('an attempt that was declined has no say while another is live', () => {
  const { decided } = decide(renewing(), soft)
  const state = renewing({ open: { paymentsMade: 2 } })
  assert.equal(said(takePayment(state, decided, at(start))), '')
})

test('an earlier attempt that is paid after all closes the one that is live', () => {
  const { decided } = decide(renewing(), paid)
  const state = renewing({ open: { paymentsMade: 2 } })
  const change = takePayment(state, decided, at(start))
  assert.equal(said(change), 'period 2 paid | close | SubscriptionRenewed')
  assert.equal(change.closeCheckout, state.live?.id)
})

test('the first period begins when it is paid, and so do all after it', () => {
  const now = march(10, '18:30:00')
  const state = incomplete({ live: {} })
  const granted = take(state, paid, at(now))
  const { paidUntil, anchorAt, anchorNumber } = granted.subscription
  assert.deepEqual([anchorAt, anchorNumber], [now, 1])
  assert.deepEqual(paidUntil, march(41, '18:30:00'))
  const [renewal] = planAction(after(state, granted), at(march(41, '18:31:00'))).periods
  assert.deepEqual([renewal?.startsAt, renewal?.number], [march(41, '18:30:00'), 2])
})

test('a period that was recovered keeps its boundaries, and previousStatus says past_due', () => {
  const state = renewing({
    subscription: { status: 'past_due', suspendedAt: start },
    open: { statusBefore: 'active', firstFailedAt: start },
  })
  const change = take(state, paid, at(march(15)))
  const { paidUntil, suspendedAt } = change.subscription
  assert.deepEqual([paidUntil, suspendedAt], [end, null])
  const [event] = change.events
  assert.ok(event?.type === 'SubscriptionRenewed')
  assert.equal(event.data.previousStatus, 'past_due')
})

test('case 34: a first period that is paid in the trial begins at its end', () => {
  const { trialEndsAt } = trialing().subscription
  const open = { number: 1, statusBefore: 'trialing' as const, startsAt: start, endsAt: end }
  const state = {
    ...trialing(),
    open: { ...(owing().open ?? assert.fail()), ...open },
    lastNumber: 1,
  }
  const page = { id: 'page', period: state.open, isPage: true, paymentMethodId: 'saved' } as const
  const change = takePayment(state, { ...page, kind: 'paid' }, at(march(5)))
  assert.equal(
    said(change),
    'trialing -> active | period 1 paid | TrialEnded | SubscriptionRenewed',
  )
  const { anchorAt, paidUntil, paymentMethodId } = change.subscription
  assert.deepEqual([anchorAt, paidUntil, paymentMethodId], [trialEndsAt, end, 'saved'])
})

test('paid time never goes back', () => {
  const change = take(renewing({ subscription: { paidUntil: march(90) } }), paid)
  assert.deepEqual(change.subscription.paidUntil, march(90))
})

test('case 14: of the periods that went by only the one with now in it is charged', () => {
  const now = new Date('2026-07-20T00:00:00Z')
  const change = planAction(active(), at(now))
  const [period] = change.periods
  assert.deepEqual(
    [period?.number, period?.startsAt, period?.skippedPeriods],
    [6, new Date('2026-07-10T12:00:00Z'), 4],
  )
  assert.equal(change.payment?.attempt, 1)
})
