import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cancelSubscription } from '../../src/subscriptions/cancel-subscription.ts'
import type {
  Moment,
  SubscriptionChange,
  SubscriptionState,
  WishResult,
} from '../../src/subscriptions/change.ts'
import { changeSubscription } from '../../src/subscriptions/change-subscription.ts'
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

/** What happens next: the state that it finds, and what it changes. */
type Step = (state: SubscriptionState) => readonly [SubscriptionState, SubscriptionChange]

/** A step, and what it says. */
type Happening = readonly [Step, string]

/** Shortly after the period has begun. */
const later = march(10, '12:00:05')
const soon = at(later)

const soft = { kind: 'declined', decline: 'soft' } as const
const hard = { kind: 'declined', decline: 'hard' } as const
const paid = { kind: 'paid' } as const
const notMade = { kind: 'not_made' } as const
const ours = { kind: 'ours', text: 'a key' } as const
const unpaid = [soft, hard, notMade, ours]

/** A worker comes by. */
const work =
  (now: Date): Step =>
  (state) => [state, planAction(state, at(now))]
/** The provider's answer about the live payment. */
const answer =
  (said: Parameters<typeof decide>[1], moment = soon): Step =>
  (given) => {
    const { state, decided } = decide(given, said)
    return [state, takePayment(state, decided, moment)]
  }
const wish =
  (wished: (state: SubscriptionState, moment: Moment) => WishResult, now: Date = later): Step =>
  (state) => {
    const result = wished(state, at(now))
    assert.ok(result.kind === 'changed', 'carried out')
    return [state, result.change]
  }
const card =
  (id: string, now: Date): Step =>
  (state) => [state, useCard(state, id, at(now))]
/** The same, but the database says something else of the state by then. */
const but =
  (change: (state: SubscriptionState) => Partial<SubscriptionState>, step: Step): Step =>
  (state) =>
    step({ ...state, ...change(state) })

const needsPayer = ({ live }: SubscriptionState) => ({
  live: live && { ...live, needsPayer: true },
})
/** A page that was closed here: no payment has moved by that. */
const closed = () => ({ live: null })
const cardGone = () => ({ isCardUsable: false })

const cancel = (when: 'period_end' | 'now', now?: Date) =>
  wish((state, moment) => cancelSubscription(state, { at: when }, moment), now)
const pause = (when: 'period_end' | 'now', now?: Date, until: Date | null = null) =>
  wish((state, moment) => pauseSubscription(state, { at: when, until }, moment), now)
const resume = (now: Date) => wish(resumeSubscription, now)
const page = (now: Date) => wish(payPeriod, now)

/** Past due, and its page is open. */
const onPage = renewing({
  subscription: { status: 'past_due' },
  open: { firstFailedAt: start, nextAttemptAt: march(12) },
  live: { isPage: true },
})
const dunningOver = 'past_due -> canceled | period 2 void | SubscriptionCancelled'

/** Section 4 of the design, where it takes several steps to see: a life is said step by step. */
const lives: readonly (readonly [what: string, SubscriptionState, ...Happening[]])[] = [
  [
    'case 32: canceled at the period’s end during a charge that is paid, it ends with the new period',
    renewing(),
    [cancel('period_end'), ''],
    [answer(paid), 'period 2 paid | SubscriptionRenewed'],
    [work(march(40)), ''],
    [work(end), 'active -> canceled | SubscriptionCancelled'],
  ],
  ...unpaid.map(
    (one) =>
      [
        `case 32: canceled at the period’s end during a charge that is ${one.kind}, it ends at once`,
        renewing(),
        [cancel('period_end'), ''],
        [answer(one), 'active -> canceled | period 2 void | SubscriptionCancelled'],
      ] as const,
  ),
  [
    'case 32: canceled during a charge that then waits for its payer, it ends at once',
    renewing(),
    [cancel('period_end'), ''],
    [
      but(needsPayer, work(later)),
      'active -> canceled | period 2 void | close | SubscriptionCancelled',
    ],
  ],
  [
    'case 32: canceled now during a charge, it ends at once',
    renewing(),
    [cancel('now'), 'active -> canceled | period 2 void | SubscriptionCancelled'],
  ],
  [
    'case 32: canceled now, an open page is closed with it',
    onPage,
    [cancel('now'), 'past_due -> canceled | period 2 void | close | SubscriptionCancelled'],
  ],
  [
    'case 32: canceled at the period’s end, it ends when the open page is closed unpaid',
    onPage,
    [cancel('period_end'), 'close'],
    [answer(notMade), dunningOver],
  ],
  [
    'case 32: a pause that is planned during a charge begins with the end of what that pays',
    renewing(),
    [pause('period_end'), ''],
    [answer(paid), 'period 2 paid | SubscriptionRenewed'],
    [work(march(40)), ''],
    [work(end), 'active -> paused | SubscriptionPaused'],
  ],
  ...unpaid.map(
    (one) =>
      [
        `case 32: a pause that is planned during a charge that is ${one.kind} begins at once`,
        renewing(),
        [pause('period_end'), ''],
        [answer(one), 'active -> paused | period 2 void | SubscriptionPaused'],
      ] as const,
  ),
  [
    'case 32: a wish before the payment’s row wins: nothing is charged',
    active(),
    [cancel('period_end', march(9)), ''],
    [work(start), 'active -> canceled | SubscriptionCancelled'],
  ],
  ...[
    [active(), 'active -> canceled | SubscriptionCancelled'] as const,
    [owing(), 'active -> canceled | period 2 void | SubscriptionCancelled'] as const,
    [pastDue(), dunningOver] as const,
    [paused(), 'paused -> canceled | SubscriptionCancelled'] as const,
    [incomplete(), 'incomplete -> canceled | period 1 void | SubscriptionCancelled'] as const,
  ].map(
    ([state, ends]) =>
      [
        `canceled at the period’s end with nothing paid left, one that is ${state.subscription.status} ends at once: ${ends}`,
        state,
        [cancel('period_end', march(11)), ends],
      ] as const,
  ),
  [
    'case 33: a trial that is canceled goes on to its end, and nothing is charged',
    trialing(),
    [cancel('period_end', march(5)), ''],
    [work(march(9)), ''],
    [work(start), 'trialing -> canceled | TrialEnded | SubscriptionCancelled'],
  ],
  [
    'case 33: a trial that is canceled now ends now',
    trialing(),
    [cancel('now', march(5)), 'trialing -> canceled | SubscriptionCancelled'],
  ],
  [
    'case 34: in a trial the first period is paid in advance; a page that is left changes nothing',
    trialing(),
    [page(march(5)), 'period 1 open | page'],
    [answer(notMade, at(march(5))), ''],
    [card('other', march(6)), ''],
    [work(march(9)), ''],
    [work(start), 'period 1 open | charge 2 | TrialEnded'],
  ],
  [
    'case 34: a page that is live at the trial’s end is closed for the card',
    trialing(),
    [page(march(10, '11:30:00')), 'period 1 open | page'],
    [work(start), 'close'],
  ],
  [
    'case 34: without a card a page that is live at the trial’s end is waited for',
    trialing(),
    [page(march(10, '11:30:00')), 'period 1 open | page'],
    [but(cardGone, work(start)), ''],
    [answer(notMade), ''],
    [work(start), 'trialing -> canceled | period 1 void | TrialEnded | SubscriptionCancelled'],
  ],
  [
    'case 34: a trial whose first period is owed needs a card, whatever the second one costs',
    trialing(),
    [page(march(5)), 'period 1 open | page'],
    [
      but(
        closed,
        wish((state, moment) => changeSubscription(state, { amount: 0n }, moment), march(6)),
      ),
      '',
    ],
    [
      but(() => ({ ...closed(), ...cardGone() }), work(start)),
      'trialing -> canceled | period 1 void | TrialEnded | SubscriptionCancelled',
    ],
  ],
  [
    'case 35: resumed within paid time it goes on, and renews when that is over',
    active(),
    [pause('now', march(5)), 'active -> paused | SubscriptionPaused'],
    [resume(march(8)), 'paused -> active | SubscriptionResumed'],
    [work(march(10, '11:59:59')), ''],
    [work(start), 'period 2 open | charge 1'],
  ],
  [
    'case 35: a pause is ended by a payment on the page, too',
    paused(),
    [page(march(20)), 'period 2 open | page'],
    [
      answer(paid, at(march(20))),
      'paused -> active | period 2 paid | SubscriptionResumed | SubscriptionRenewed',
    ],
  ],
  [
    'case 35: a page that is left ends no pause',
    paused(),
    [page(march(20)), 'period 2 open | page'],
    [answer(notMade), 'period 2 void'],
  ],
  [
    'a page on which a pause was to end, declined and over, leaves nothing that is owed',
    paused(),
    [page(march(20)), 'period 2 open | page'],
    [but(closed, card('other', march(21))), ''],
    [work(march(21)), 'period 2 void'],
    [work(march(200)), ''],
  ],
  [
    'retries that nobody could make are not made up for: one is, in the period',
    pastDue(),
    [work(march(25)), 'period 2 open | charge 2'],
    [answer(soft, at(march(25))), dunningOver],
  ],
  ['after the period no retry is made', pastDue(), [work(end), dunningOver]],
  [
    'case 24: a page is waited for until a card would be charged',
    pastDue({ open: { nextAttemptAt: march(12) } }),
    [page(march(11)), 'period 2 open | page'],
    [work(march(11, '12:30:00')), ''],
    [work(march(12)), 'close'],
    [answer(notMade, at(march(12))), ''],
    [work(march(12)), 'period 2 open | charge 3'],
  ],
  [
    'case 24: without a card a page is waited for, until all is over',
    pastDue({ open: { nextAttemptAt: march(12) }, isCardUsable: false }),
    [page(march(11)), 'period 2 open | page'],
    [work(march(12)), ''],
    [work(end), 'close'],
  ],
  [
    'case 22: another card that comes while a page is open is charged once that is closed',
    pastDue({ open: { needs: 'new_card', nextAttemptAt: null }, isCardUsable: false }),
    [page(march(11)), 'period 2 open | page'],
    [card('other', march(12)), 'period 2 open'],
    [work(march(12)), 'close'],
    // It may have been declined there: its period hears nothing of its end.
    [but(closed, work(march(12))), 'period 2 open | charge 3'],
  ],
]

for (const [what, first, ...happenings] of lives) {
  test(what, () => {
    let state = first
    for (const [index, [step, expected]] of happenings.entries()) {
      const [found, change] = step(state)
      assert.equal(said(change), expected, `step ${index + 1}`)
      state = after(found, change)
    }
  })
}
