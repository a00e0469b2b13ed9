import type { DeferredEvent } from '../events/event-record.ts'
import { counted } from '../kernel/counted.ts'
import { moneyText } from '../kernel/money.ts'
import { factsOf } from '../kernel/noun-text.ts'
import type { Fields } from '../kernel/noun.ts'
import { cardName } from '../payments/payment-method.ts'
import type { Payment } from '../payments/payment.ts'
import { inWords } from '../payments/review-words.ts'
import { paymentNoun, type KnownPayment } from '../wire/listed-payment.ts'
import type { PaymentDetails } from '../wire/payment-details.ts'
import { print, printFact, visible } from './output.ts'

/** A payment, one fact per line. */
export function printPayment(payment: KnownPayment): void {
  printFacts(paymentNoun.facts, payment)
}

/** The same for a refund. */
export function printRefund(refund: Payment): void {
  const { id, parentId } = paymentNoun.facts
  const own = { id: { ...id, label: 'refund' }, parentId: { ...parentId, label: 'payment' } }
  printFacts({ ...paymentNoun.facts, ...own }, refund)
}

function printFacts(facts: Fields, payment: KnownPayment): void {
  for (const [label, text] of factsOf(facts, payment, saidElsewhere(payment))) {
    printFact(label, text)
  }
}

/** What other facts say, and what says nothing of this payment, or nothing any more. */
function saidElsewhere({ status, checkout, pollError, saveCard }: KnownPayment) {
  const isPaid = status === 'paid'
  // For a paid payment, only what a person must look at: the last poll may have failed earlier.
  const isPolledWell = isPaid && pollError?.startsWith('needs a review') !== true
  return [
    'type',
    'currency',
    'refunded',
    'refundable',
    ...(checkout === 'open' && !isPaid ? [] : ['checkoutUrl']),
    ...(isPaid ? ['operationError', 'declineCode'] : []),
    ...(isPolledWell ? ['pollError'] : []),
    ...(saveCard ? [] : ['saveCard']),
  ]
}

/** What the provider said, in its own words; of no interest once all went well. */
function printErrors(refund: Payment): void {
  const { operationError, declineCode, pollError } = paymentNoun.facts
  printFacts({ operationError, declineCode, pollError }, refund)
}

/** What happened to it. */
export function printHistory(payment: PaymentDetails): void {
  for (const { from, to, cause, at } of payment.transitions) {
    printFact('transition', `${at.toISOString()}  ${from} -> ${to}, by ${cause}`)
  }
  for (const { firstAt, operation, result, detail, times, durationMs } of payment.activity) {
    const often = times === 1 ? `${durationMs} ms` : `${times} times`
    const said = detail === null ? result : `${result}, ${detail}`
    printFact('asked', `${firstAt.toISOString()}  ${operation}: ${said} (${often})`)
  }
  for (const event of payment.events) {
    const superseded = event.superseded ? ' (superseded)' : ''
    printFact('event', `${event.createdAt.toISOString()}  ${event.type}${superseded}`)
  }
  for (const event of payment.deferredEvents) printDeferredEvent(event)
  for (const refund of payment.refunds) {
    printFact('refund', `${refund.id}  ${refund.status}  ${moneyText(refund)}`)
    printErrors(refund)
  }
  for (const dispute of payment.disputes) {
    printFact('dispute', `${dispute.providerReference}  ${dispute.status}`)
  }
  for (const review of payment.reviews) {
    printFact('review', `${review.id}  ${review.state}  ${inWords(review)}`)
  }
  for (const method of payment.paymentMethods) {
    printFact('card', `${method.id}  ${method.status}  ${cardName(method)}`)
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
