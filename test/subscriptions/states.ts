import { namedUuid } from '../../src/kernel/named-uuid.ts'
import type {
  DecidedPayment,
  LivePayment,
  Moment,
  NewSubscription,
  SubscriptionChange,
  SubscriptionPolicy,
  SubscriptionState,
} from '../../src/subscriptions/change.ts'
import { newPeriod } from '../../src/subscriptions/open-period.ts'
import type { SubscriptionPeriod } from '../../src/subscriptions/period.ts'
import type { Subscription } from '../../src/subscriptions/subscription.ts'

/** A time of March 2026: the day, and a time of that day. */
export const march = (day: number, time = '12:00:00'): Date =>
  new Date(Date.parse(`2026-03-01T${time}Z`) + (day - 1) * 86_400_000)

/** When the period of these tests begins, and when it ends. */
export const start = march(10)
export const end = march(41)

export const policy: SubscriptionPolicy = {
  retryDays: [1, 3, 5, 7],
  onUnpaid: 'cancel',
  trialNoticeDays: [],
  periodNoticeDays: [],
  incompleteHours: 24,
}

export const at = (
  now: Date,
  more: Partial<SubscriptionPolicy> & { held?: boolean } = {},
): Moment => {
  const { held = false, ...changed } = more
  return { now, policy: { ...policy, ...changed }, held }
}

export const input: NewSubscription = {
  id: '01900000-0000-7000-8000-000000000001',
  managedBy: 'local',
  gateway: 'fake',
  merchantAccount: null,
  live: null,
  plan: 'basic',
  payable: { type: 'account', id: '7' },
  description: null,
  customer: null,
  metadata: null,
  amount: 500n,
  currency: 'USD',
  every: { unit: 'month', count: 1 },
  timeZone: 'UTC',
  paymentMethodId: 'card',
  graceAccess: true,
  trialEndsAt: null,
  paidUntil: null,
}

export const subscription: Subscription = {
  ...input,
  providerReference: null,
  status: 'active',
  nextTerms: null,
  dueQuotas: null,
  anchorAt: march(-18),
  anchorNumber: 1,
  paidUntil: start,
  cancelAt: null,
  pauseAt: null,
  resumeAt: null,
  suspendedAt: null,
  endedAt: null,
  endReason: null,
  eventNumber: 5,
  nextActionAt: start,
  actionError: null,
  createdAt: march(-18),
  updatedAt: march(-18),
}

const paidPeriod: SubscriptionPeriod = {
  ...newPeriod(subscription, { number: 1, startsAt: march(-18), endsAt: start }),
  state: 'paid',
  paidPaymentId: 'first payment',
  paidAt: march(-18),
}

export const openPeriod: SubscriptionPeriod = newPeriod(subscription, {
  number: 2,
  startsAt: start,
  endsAt: end,
})

export interface Parts {
  readonly subscription?: Partial<Subscription>
  readonly open?: Partial<SubscriptionPeriod>
  readonly live?: Partial<LivePayment>
  readonly isCardUsable?: boolean
}

/** Paid until `start`; nothing is open. */
export function active({
  subscription: changed,
  isCardUsable = true,
}: Parts = {}): SubscriptionState {
  return {
    subscription: { ...subscription, ...changed },
    open: null,
    current: paidPeriod,
    live: null,
    lastNumber: 1,
    isCardUsable,
  }
}

const nth = (period: SubscriptionPeriod, attempt: number) =>
  namedUuid(period.nominalStartsAt, `period/${period.id}/${attempt}`)

/** Its renewal is being charged, or paid on a page. */
export function renewing({ open, live, ...parts }: Parts = {}): SubscriptionState {
  const state = owing({ open: { paymentsMade: 1, ...open }, ...parts })
  const period = state.open ?? openPeriod
  return {
    ...state,
    live: {
      id: nth(period, period.paymentsMade),
      periodId: period.id,
      isPage: false,
      needsPayer: false,
      expiresAt: null,
      ...live,
    },
  }
}

/** Its renewal is open, and no payment of it is live. */
export function owing({ open, ...parts }: Parts = {}): SubscriptionState {
  const state = active(parts)
  const { status } = state.subscription
  return { ...state, open: { ...openPeriod, statusBefore: status, ...open }, lastNumber: 2 }
}

/** Declined at `start`, and due again a day later. */
export function pastDue({ subscription, open, ...parts }: Parts = {}): SubscriptionState {
  return owing({
    subscription: { status: 'past_due', ...subscription },
    open: {
      statusBefore: 'active',
      paymentsMade: 1,
      declines: 1,
      firstFailedAt: start,
      nextAttemptAt: march(11),
      ...open,
    },
    ...parts,
  })
}

/** In a trial until `start`. */
export function trialing({
  subscription: changed,
  isCardUsable = true,
}: Parts = {}): SubscriptionState {
  const trialEndsAt = changed?.trialEndsAt ?? start
  const trial: SubscriptionPeriod = {
    ...newPeriod(subscription, { number: 0, startsAt: march(-18), endsAt: trialEndsAt }),
    kind: 'trial',
    state: 'free',
  }
  return {
    subscription: {
      ...subscription,
      status: 'trialing',
      anchorAt: null,
      paidUntil: null,
      trialEndsAt,
      eventNumber: 0,
      ...changed,
    },
    open: null,
    current: trial,
    live: null,
    lastNumber: 0,
    isCardUsable,
  }
}

/** Made at `start`, its first period not paid yet. */
export function incomplete({
  subscription: changed,
  open,
  live,
  ...parts
}: Parts = {}): SubscriptionState {
  const state = (live ? renewing : owing)({
    subscription: {
      status: 'incomplete',
      anchorAt: null,
      paidUntil: null,
      createdAt: start,
      eventNumber: 0,
      ...changed,
    },
    open: { number: 1, paymentsMade: 1, ...open },
    ...(live && { live }),
    ...parts,
  })
  return { ...state, current: null, lastNumber: 1 }
}

/** Paused; what was paid is over. */
export function paused({ subscription: changed, ...parts }: Parts = {}): SubscriptionState {
  return active({ subscription: { status: 'paused', ...changed }, ...parts })
}

/** The live payment, decided; and the state that `takePayment` then gets. */
export function decide(
  state: SubscriptionState,
  answer: { kind: DecidedPayment['kind'] } & Record<string, unknown>,
): { state: SubscriptionState; decided: DecidedPayment } {
  const { live, open } = state
  if (live === null || open === null) throw new Error('nothing is live')
  const decided = {
    id: live.id,
    period: open,
    isPage: live.isPage,
    paymentMethodId: live.isPage ? null : state.subscription.paymentMethodId,
    ...answer,
  } as DecidedPayment
  return { state: { ...state, live: null }, decided }
}

/** The state that a change leads to, as the database has it. */
export function after(state: SubscriptionState, change: SubscriptionChange): SubscriptionState {
  const { periods, payment } = change
  const byId = new Map(
    [state.current, state.open].flatMap((period) => (period === null ? [] : [[period.id, period]])),
  )
  for (const period of periods) byId.set(period.id, period)
  const all = [...byId.values()].sort((one, other) => one.number - other.number)
  const open = all.find((period) => period.state === 'open') ?? null
  const made = payment && {
    id: payment.id,
    periodId: payment.periodId,
    isPage: payment.paymentMethodId === null,
    needsPayer: false,
    expiresAt: null,
  }
  const live = made ?? state.live
  const { paymentMethodId } = change.subscription
  const hasOther = paymentMethodId !== state.subscription.paymentMethodId
  return {
    subscription: change.subscription,
    open,
    current: all.findLast(({ state }) => state === 'paid' || state === 'free') ?? null,
    live: live?.periodId === open?.id ? live : null,
    lastNumber: Math.max(state.lastNumber, ...periods.map(({ number }) => number)),
    isCardUsable: hasOther ? paymentMethodId !== null : state.isCardUsable,
  }
}

/** A change in words: `active -> past_due | period 2 open | SubscriptionPaymentFailed`. */
export function said(change: SubscriptionChange): string {
  const { transition, periods, payment, events, reviews, closeCheckout } = change
  return [
    transition && `${transition.from ?? 'new'} -> ${transition.to}`,
    ...periods.map(({ number, state }) => `period ${number} ${state}`),
    payment && (payment.paymentMethodId === null ? 'page' : `charge ${payment.attempt}`),
    closeCheckout && 'close',
    ...events.map(({ type }) => type),
    ...reviews.map(({ reason }) => reason),
  ]
    .filter((part) => part !== null && part !== '')
    .join(' | ')
}
