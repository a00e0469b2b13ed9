import type { DeferredEvent } from '../events/event-record.ts'
import { counted } from '../kernel/counted.ts'
import type { PaymentDetails } from '../wire/payment-details.ts'
import { moneyText } from '../kernel/money.ts'
import { cardName } from '../payments/payment-method.ts'
import type { Payment } from '../payments/payment.ts'
import { standingText, type PaymentStanding } from '../payments/standing.ts'
import { inWords } from '../payments/review-words.ts'
import type { ListedPayment } from '../wire/listed-payment.ts'
import { print, visible } from './output.ts'

/** A payment, one fact per line. */
export function printPayment(payment: Payment, standing?: PaymentStanding): void {
  print(`payment     ${payment.id}`)
  print(`status      ${standing === undefined ? payment.status : standingText(standing)}`)
  print(`amount      ${moneyText(payment)}`)
  print(`gateway     ${payment.gateway}`)
  print(visible(`payable     ${payment.payable.type}:${payment.payable.id}`))
  print(`created     ${payment.createdAt.toISOString()}`)
  if (payment.handedAt !== null) print(`handed over ${payment.handedAt.toISOString()}`)
  print(`checkout    ${payment.checkout}`)
  const { checkout, checkoutUrl, status } = payment
  if (checkoutUrl !== null && checkout === 'open' && status !== 'paid') {
    print(visible(`pay at      ${checkoutUrl}`))
  }
  printError(payment)
}

/** What happened to it. */
export function printHistory(payment: PaymentDetails): void {
  const { period } = payment
  if (period !== null)
    print(`period      ${period.number} of subscription ${period.subscriptionId}`)
  const refunds = refundsText(payment)
  if (refunds !== '') print(`refunds     ${refunds}`)
  for (const { from, to, cause, at } of payment.transitions) {
    print(`transition  ${at.toISOString()}  ${from} -> ${to}, by ${cause}`)
  }
  for (const { firstAt, operation, result, detail, times, durationMs } of payment.activity) {
    const often = times === 1 ? `${durationMs} ms` : `${times} times`
    const said = detail === null ? result : `${result}, ${detail}`
    print(visible(`asked       ${firstAt.toISOString()}  ${operation}: ${said} (${often})`))
  }
  for (const event of payment.events) {
    const superseded = event.superseded ? ' (superseded)' : ''
    print(`event       ${event.createdAt.toISOString()}  ${event.type}${superseded}`)
  }
  for (const event of payment.deferredEvents) printDeferredEvent(event)
  for (const refund of payment.refunds) {
    print(`refund      ${refund.id}  ${refund.status}  ${moneyText(refund)}`)
    printError(refund)
  }
  for (const dispute of payment.disputes) {
    print(visible(`dispute     ${dispute.providerReference}  ${dispute.status}`))
  }
  for (const review of payment.reviews) {
    print(visible(`review      ${review.id}  ${review.state}  ${inWords(review)}`))
  }
  for (const method of payment.paymentMethods) {
    print(visible(`card        ${method.id}  ${method.status}  ${cardName(method)}`))
  }
}

/** What listeners have yet to get, and why; the stack is in `--json`. */
export function printDeferredEvent(event: DeferredEvent): void {
  const { createdAt, type, state, attempts, source } = event
  print(`deferred    ${createdAt.toISOString()}  ${type}, by ${source}`)
  print(`  state     ${state}, ${counted(attempts, 'failed attempt')}`)
  if (event.nextAttemptAt !== null) print(`  due       ${event.nextAttemptAt.toISOString()}`)
  if (event.webhookCallId !== null) print(`  call      ${event.webhookCallId}`)
  const [error] = event.exception?.split('\n', 1) ?? []
  if (error !== undefined) print(visible(`  error     ${error}`))
}

/** The same for a refund. */
export function printRefund(refund: Payment): void {
  print(`refund      ${refund.id}`)
  print(`status      ${refund.status}`)
  print(`amount      ${moneyText(refund)}`)
  print(`payment     ${refund.parentId ?? ''}`)
  printError(refund)
}

/** What went back of a payment, and what still can; empty if nothing did. */
export function refundsText({ refunded, refundable, currency }: ListedPayment): string {
  if (refunded === 0n) return ''
  const [back, left] = [refunded, refundable].map((amount) => moneyText({ amount, currency }))
  return `refunded ${back}, refundable ${left}`
}

/** What the provider said, in its own words; of no interest once all went well. */
function printError({ operationError, declineCode, pollError, status }: Payment): void {
  if (operationError !== null && status !== 'paid') print(visible(`error       ${operationError}`))
  if (declineCode !== null && status === 'failed') print(visible(`declined    ${declineCode}`))
  // For a paid payment, only what a person must look at: the last poll may have failed earlier.
  const isOver = status === 'paid' && pollError?.startsWith('needs a review') !== true
  if (pollError !== null && !isOver) print(visible(`last poll   ${pollError}`))
}
