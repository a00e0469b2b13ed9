import type { Payment } from '../payments/payment.ts'
import type { SubscriptionDetails } from '../wire/subscription-details.ts'
import { print, visible } from './output.ts'

/** What has become of a charge, and what comes next. */
interface Outlook {
  /** Null: nothing was to be charged. */
  readonly charge: string | null
  readonly next: string
  /** Whether the payer can do something about it on the page of the subscription. */
  readonly isPaidOnPage: boolean
}

/**
 * Why a subscription that was just made or resumed is not paid yet, and what to do about that; of one
 * that is, and of one whose payer has a checkout, nothing.
 */
export function printNext(details: SubscriptionDetails): void {
  const outlook = outlookOf(details)
  if (outlook === null) return
  const { charge, next, isPaidOnPage } = outlook
  if (charge !== null) print(visible(`charge       ${charge}`))
  print(`next         ${next}`)
  if (isPaidOnPage) print(`pay at       ${details.payUrl}`)
}

function outlookOf(details: SubscriptionDetails): Outlook | null {
  const { managedBy, status, openPeriod, periods, payments } = details
  // What comes next is the provider's to say.
  if (managedBy === 'provider') return null
  if (status === 'trialing') return trialOutlook(details)
  if (status !== 'incomplete' && status !== 'paused') return null
  const period = openPeriod ?? periods.at(-1)
  const payment = payments.findLast(({ periodId }) => periodId === period?.id)
  return payment === undefined ? unasked(details) : chargeOutlook(payment, details)
}

function trialOutlook({ renewable, paymentMethodId }: SubscriptionDetails): Outlook {
  const asked = { charge: null, isPaidOnPage: !renewable }
  if (!renewable) {
    const page = 'the customer pays for the first period on the page, which saves the card'
    return { ...asked, next: `without a card it ends with the trial: ${page}` }
  }
  const what = paymentMethodId === null ? 'the first period begins' : 'the card is charged'
  return { ...asked, next: `${what} when the trial ends` }
}

/** Nobody was asked for money. */
function unasked(details: SubscriptionDetails): Outlook {
  if (details.openPeriod?.nextAttemptAt == null) {
    return otherCard('none: there is no card that can be charged', details)
  }
  const next = 'a worker charges the card as soon as charges are not on hold'
  return { charge: 'not made yet', next, isPaidOnPage: false }
}

function chargeOutlook(payment: Payment, details: SubscriptionDetails): Outlook | null {
  const { status, paymentMethodId, declineCode } = payment
  if (status === 'paid') return null
  if (status === 'failed') {
    return otherCard(`declined${declineCode === null ? '' : `, ${declineCode}`}`, details)
  }
  if (status === 'canceled') return notMade(payment, details)
  if (paymentMethodId === null) return null
  if (details.openPeriod?.needs === 'confirmation') {
    const charge = 'waits for the customer, who has to confirm it'
    return { charge, next: 'the customer confirms it on the page', isPaidOnPage: true }
  }
  const next = 'a callback or a poll decides it; the card is not charged again before'
  return { charge: 'not decided yet', next, isPaidOnPage: false }
}

function notMade({ operationError }: Payment, details: SubscriptionDetails): Outlook {
  const charge = `not made: ${details.actionError ?? operationError ?? 'the provider ended it'}`
  const again = details.openPeriod?.nextAttemptAt
  if (again == null) return otherCard(charge, details)
  const next = `it is charged again on ${again.toISOString()}; the customer need do nothing`
  return { charge, next, isPaidOnPage: false }
}

/** It is for the payer, who is there: nothing is tried again by itself. */
function otherCard(charge: string, { id, status, nextActionAt }: SubscriptionDetails): Outlook {
  const change = `quittance subscriptions change ${id} --payment-method CARD`
  const page = 'the customer pays on the page'
  if (status === 'paused') {
    const next = `it stays paused: ${page}, or give another card (${change}) and resume it again`
    return { charge, next, isPaidOnPage: true }
  }
  const end = nextActionAt === null ? '' : `; unpaid, it ends on ${nextActionAt.toISOString()}`
  const next = `${page}, or charge another card: ${change}${end}`
  return { charge, next, isPaidOnPage: true }
}
