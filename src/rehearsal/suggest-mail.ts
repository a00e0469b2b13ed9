import type { PlannedEvent } from '../subscriptions/change.ts'
import { assertNever } from '../kernel/errors.ts'

/** What a merchant may want to write to the customer at an event; null: nothing. */
export function suggestMail(event: PlannedEvent): string | null {
  switch (event.type) {
    case 'SubscriptionRenewed':
      return renewalMails[event.data.previousStatus] ?? 'a receipt'
    case 'SubscriptionPaymentFailed':
      return failureMail(event.data)
    case 'SubscriptionAccessSuspended':
      return 'there is no access until it is paid'
    case 'SubscriptionCancelled':
      return endMails[event.data.reason]
    case 'SubscriptionPaused': {
      const { reason, resumesAt } = event.data
      if (reason === 'payment_failed') return 'it is paused, for it was not paid'
      return resumesAt === null ? 'it is paused' : `it is paused until ${day(resumesAt)}`
    }
    case 'SubscriptionResumed':
      return 'it goes on'
    case 'TrialWillEnd': {
      const { endsAt, renews } = event.data
      const then = renews ? 'then the card is charged' : 'put in a card to go on'
      return `the trial ends on ${day(endsAt)}; ${then}`
    }
    // What comes with it says it better: a receipt, a trial, the end.
    case 'SubscriptionCreated':
    case 'TrialEnded':
      return null
    case 'SubscriptionPeriodEnding': {
      const { endsAt, renews } = event.data
      return renews ? `it renews on ${day(endsAt)}` : `what is paid ends on ${day(endsAt)}`
    }
    case 'SubscriptionQuotaReset':
      return null
    case 'UsageLimitReached': {
      const { quota, percent } = event.data
      return `${percent} % of ${quota} is used`
    }
    default:
      return assertNever(event)
  }
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

function failureMail({
  needs,
  nextAttemptAt,
}: Extract<PlannedEvent, { type: 'SubscriptionPaymentFailed' }>['data']): string {
  const next = nextAttemptAt === null ? '' : `; we try again on ${day(nextAttemptAt)}`
  if (needs === 'new_card') return 'the card cannot be charged: put in another one (pay page)'
  if (needs === 'confirmation') return `confirm the payment (pay page)${next}`
  return `the card was declined${next}, or pay now (pay page)`
}

function day(time: Date): string {
  return time.toISOString().slice(0, 10)
}
