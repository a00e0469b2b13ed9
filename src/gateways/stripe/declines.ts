import type { DeclineKind } from '../../payments/decline.ts'
import type { Outcome } from '../../payments/outcome.ts'
import { path, textOf, type JsonObject, type JsonValue } from '../body/json.ts'

/**
 * What Stripe itself never tries again, without a new card:
 * https://docs.stripe.com/billing/revenue-recovery/smart-retries, "Non-retryable decline codes".
 * Its list has `authentication_required` too, for which the payer is needed instead.
 */
const neverRetried = [
  'highest_risk_level',
  'incorrect_number',
  'lost_card',
  'pickup_card',
  'revocation_of_all_authorizations',
  'revocation_of_authorization',
  'stolen_card',
  'transaction_not_allowed',
]

/**
 * Of the other codes, those that say that another card is needed, or that the bank wants no more
 * tries: https://docs.stripe.com/declines/codes, "Next steps". That another try with these is in
 * vain is reasoned: Stripe's own retries do not leave them out.
 */
const anotherCard = [
  'card_not_supported',
  'currency_not_supported',
  'do_not_try_again',
  'expired_card',
  'invalid_account',
  'invalid_expiry_month',
  'invalid_expiry_year',
  'merchant_blacklist',
  'new_account_information_available',
  'restricted_card',
  'stop_payment_order',
]

/** https://docs.stripe.com/error-codes has the last two, for intents. */
const authentication = [
  'authentication_required',
  'authentication_not_handled',
  'payment_intent_authentication_failure',
]

export const declines: ReadonlyMap<string, DeclineKind> = new Map<string, DeclineKind>([
  ...neverRetried.map((code) => [code, 'hard'] as const),
  ...anotherCard.map((code) => [code, 'hard'] as const),
  ...authentication.map((code) => [code, 'authentication'] as const),
])

/** The code of a network's advice, and of a decline that is nothing but that advice. */
const noMore = 'do_not_try_again'

/**
 * A failed payment, with the code of the error that declined it. The advice of the card's network
 * not to try again counts more than a code that leaves it open:
 * https://docs.stripe.com/declines/card, "Retrying issuer declines".
 */
export function withCode(outcome: Outcome, error: JsonValue): Outcome {
  const declineCode = declineCodeOf(error)
  const isCoded = outcome.type === 'payment' && declineCode !== undefined
  return isCoded ? { ...outcome, declineCode } : outcome
}

/** The code of the error that declined a try, if it has one. */
export function declineCodeOf(error: JsonValue): string | undefined {
  const code = textOf(path(error, 'decline_code')) ?? textOf(path(error, 'code'))
  const isOpen = code === undefined || !declines.has(code)
  return isOpen && path(error, 'advice_code') === noMore ? noMore : code
}

/** The error of an intent's last try. */
export function lastErrorOf(intent: JsonObject): JsonValue {
  return intent.get('last_payment_error') ?? null
}
