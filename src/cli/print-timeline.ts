import { subscriptionTimeline } from '../inspect/subscription-timeline.ts'
import type { Payment } from '../payments/payment.ts'
import type { PaymentStanding } from '../payments/standing.ts'
import type { SubscriptionDetails } from '../wire/subscription-details.ts'
import { print, styled, visible } from './output.ts'

/** What happened to a subscription, in order, a line each; of a payment with its id. */
export function printTimeline(
  details: SubscriptionDetails,
  standingOf: (payment: Payment) => PaymentStanding,
): void {
  for (const { at, what, id, text } of subscriptionTimeline(details, standingOf)) {
    const named = what === 'payment' ? `${id}  ${text}` : text
    print(`${at.toISOString()}  ${styled('bold', what.padEnd(8))}  ${visible(named)}`)
  }
}
