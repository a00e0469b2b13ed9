import type { PlannedEvent, SubscriptionEventType } from '../subscriptions/events.ts'

type DataOf<Type extends SubscriptionEventType> = Extract<
  PlannedEvent,
  { readonly type: Type }
>['data']

/** What a merchant may want to write to the customer at an event; null: nothing. */
export function suggestMail({ type, data }: PlannedEvent): string | null {
  const suggest = mails[type] as ((data: PlannedEvent['data']) => string | null) | undefined
  return suggest?.(data) ?? null
}

/** What comes with the others says it better: a receipt, a trial, the end. */
const mails: {
  readonly [Type in SubscriptionEventType]?: (data: DataOf<Type>) => string | null
} = {
  SubscriptionRenewed: ({ previousStatus }) => renewalMails[previousStatus] ?? 'a receipt',
  SubscriptionPaymentFailed: failureMail,
  SubscriptionAccessSuspended: () => 'there is no access until it is paid',
  SubscriptionCancelled: ({ reason }) => endMails[reason],
  SubscriptionPaused: ({ reason, resumesAt }) => {
    if (reason === 'payment_failed') return 'it is paused, for it was not paid'
    return resumesAt === null ? 'it is paused' : `it is paused until ${day(resumesAt)}`
  },
  SubscriptionResumed: () => 'it goes on',
  TrialWillEnd: ({ endsAt, renews }) => {
    const then = renews ? 'then the card is charged' : 'put in a card to go on'
    return `the trial ends on ${day(endsAt)}; ${then}`
  },
  SubscriptionPeriodEnding: ({ endsAt, renews }) =>
    renews ? `it renews on ${day(endsAt)}` : `what is paid ends on ${day(endsAt)}`,
  UsageLimitReached: ({ quota, percent }) => `${percent} % of ${quota} is used`,
}

const renewalMails: Readonly<Record<string, string>> = {
  incomplete: 'welcome, with a receipt',
  trialing: 'thank you for staying, with a receipt',
  past_due: 'all is well again, with a receipt',
}

const endMails = {
  requested: 'it has ended, as you wished',
  payment_failed: 'it has ended, for it was not paid',
  trial_ended: 'the trial is over',
  incomplete: null,
  provider: 'it has ended',
} as const

function failureMail({ needs, nextAttemptAt }: DataOf<'SubscriptionPaymentFailed'>): string {
  const next = nextAttemptAt === null ? '' : `; we try again on ${day(nextAttemptAt)}`
  if (needs === 'new_card') return 'the card cannot be charged: put in another one (pay page)'
  if (needs === 'confirmation') return `confirm the payment (pay page)${next}`
  return `the card was declined${next}, or pay now (pay page)`
}

function day(time: Date): string {
  return time.toISOString().slice(0, 10)
}
