import { assertNever } from '../kernel/errors.ts'
import type { KeyNames } from '../kernel/event-shape.ts'
import type {
  PeriodPayment,
  PeriodReview,
  SubscriptionChange,
  SubscriptionEvent,
  SubscriptionState,
  TermsReview,
} from './change.ts'
import { keyOfEvent, type PlannedEvent } from './events.ts'
import type { SubscriptionPeriod } from './period.ts'
import type { Subscription, SubscriptionStatus } from './subscription.ts'

/** A decision in the making: the state as it would be, and what has led there. */
export interface Draft extends Pick<
  SubscriptionChange,
  'periods' | 'payment' | 'closeCheckout' | 'events' | 'reviews'
> {
  readonly state: SubscriptionState
  /** The subscription before the decision; null: it is being made. */
  readonly before: Subscription | null
  /** Why the status changes. */
  readonly cause: { readonly reason: string; readonly periodId: string | null } | null
}

export function draftOf(state: SubscriptionState): Draft {
  return {
    state,
    before: state.subscription,
    cause: null,
    periods: [],
    payment: null,
    closeCheckout: null,
    events: [],
    reviews: [],
  }
}

export function withSubscription(draft: Draft, changes: Partial<Subscription>): Draft {
  const { state } = draft
  return { ...draft, state: { ...state, subscription: { ...state.subscription, ...changes } } }
}

/** Moves it to another status. */
export function moved(
  draft: Draft,
  status: SubscriptionStatus,
  cause: NonNullable<Draft['cause']>,
): Draft {
  return { ...withSubscription(draft, { status }), cause }
}

/** A period as it is now: new, or changed. */
export function withPeriod(draft: Draft, period: SubscriptionPeriod): Draft {
  const others = draft.periods.filter(({ id }) => id !== period.id)
  const state = noted(draft.state, period)
  const lastNumber = Math.max(state.lastNumber, period.number)
  const changed = { ...draft, periods: [...others, period] }
  switch (period.state) {
    case 'open':
      return { ...changed, state: { ...state, lastNumber, open: period } }
    case 'paid':
    case 'free':
      return {
        ...changed,
        state: { ...withoutOpen(state, period), lastNumber, current: laterOf(state, period) },
      }
    case 'void':
      return { ...changed, state: withoutOpen(state, period) }
    default:
      return assertNever(period.state)
  }
}

function noted(state: SubscriptionState, period: SubscriptionPeriod): SubscriptionState {
  const { managed } = state
  if (managed === undefined) return state
  const others = managed.periods.filter(({ id }) => id !== period.id)
  return { ...state, managed: { ...managed, periods: [...others, period] } }
}

/** The payment of an earlier period may be found late. */
function laterOf({ current }: SubscriptionState, period: SubscriptionPeriod) {
  if (current === null || current.id === period.id) return period
  const later = period.startsAt.getTime() - current.startsAt.getTime()
  return (later || period.number - current.number) < 0 ? current : period
}

function withoutOpen(state: SubscriptionState, { id }: SubscriptionPeriod): SubscriptionState {
  return state.open?.id === id ? { ...state, open: null, live: null } : state
}

/** A payment to be made of the open period. */
export function withPayment(draft: Draft, payment: PeriodPayment): Draft {
  const live = {
    id: payment.id,
    periodId: payment.periodId,
    isPage: payment.paymentMethodId === null,
    needsPayer: false,
    expiresAt: null,
  }
  return { ...draft, payment, state: { ...draft.state, live } }
}

/** Fires an event; `names` of its key that do not follow from what it stores. */
export function fired(draft: Draft, event: PlannedEvent, names: KeyNames = {}): Draft {
  const { id, eventNumber: last } = draft.state.subscription
  const eventNumber = last + 1
  const own = { subscription: id, 'number of the event': eventNumber }
  const dedupKey = keyOfEvent(event, { ...own, ...names })
  const numbered: SubscriptionEvent = { ...event, dedupKey, eventNumber }
  return { ...withSubscription(draft, { eventNumber }), events: [...draft.events, numbered] }
}

/** Somebody has to look at money that bought nothing, or at what is charged for. */
export function withReview(draft: Draft, review: PeriodReview | TermsReview): Draft {
  return { ...draft, reviews: [...draft.reviews, review] }
}

/** The live payment is to be closed at the provider, if it is one that waits for its payer. */
export function withClosing(draft: Draft): Draft {
  const { live } = draft.state
  return live === null || !waitsForPayer(live) ? draft : { ...draft, closeCheckout: live.id }
}

/** Whether a payment is paid by its payer, not by us: a page, or a charge that he must confirm. */
export function waitsForPayer(live: NonNullable<SubscriptionState['live']>): boolean {
  return live.isPage || live.needsPayer
}
