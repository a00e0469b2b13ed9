import type { PeriodNeeds } from '../../subscriptions/period.ts'
import type { StatedFailure } from '../../subscriptions/statement.ts'
import { isJsonObject, path, textOf, type JsonObject, type JsonValue } from '../body/json.ts'
import { isCharged } from './payload.ts'

const checkoutOrigins: ReadonlySet<JsonValue | undefined> = new Set(['web', 'api'])

/**
 * Whether a subscription began with it. Paddle alone writes `origin` and `subscription_id`: nobody
 * can put a checkout of his into the subscription of another.
 */
export function isFirstCharge(transaction: JsonObject): boolean {
  return checkoutOrigins.has(transaction.get('origin'))
}

/**
 * The newest charge of a whole period, among all charges, newest first. Others are made in between:
 * for changes, for extras, to save another card.
 */
export function newestPeriodCharge(charges: readonly JsonObject[]): JsonObject | undefined {
  return charges.find((one) => isFirstCharge(one) || one.get('origin') === 'subscription_recurring')
}

/** Whether it was tried, and was not paid. */
export function hasFailed(charge: JsonObject | undefined): boolean {
  return charge !== undefined && !isCharged(charge) && failedAttempts(charge).length > 0
}

/**
 * How a charge has failed. Paddle counts and times its retries by itself, and does not say when the
 * next one is.
 */
export function failureOf(charge: JsonObject | undefined): StatedFailure {
  const attempts = charge === undefined ? [] : failedAttempts(charge)
  const code = textOf(attempts[0]?.get('error_code')) ?? ''
  return {
    attempt: Math.max(1, attempts.length),
    nextAttemptAt: null,
    needs: needs.get(code) ?? 'nothing',
  }
}

/** Newest first. */
function failedAttempts(charge: JsonObject): readonly JsonObject[] {
  const payments = charge.get('payments')
  const attempts = Array.isArray(payments) ? payments.filter(isJsonObject) : []
  return attempts.filter((one) => path(one, 'status') === 'error')
}

/** What helps no more by itself. https://developer.paddle.com/api-reference/transactions/overview */
const needs: ReadonlyMap<string, PeriodNeeds> = new Map<string, PeriodNeeds>([
  ['authentication_failed', 'confirmation'],
  ['blocked_card', 'new_card'],
  ['declined_not_retryable', 'new_card'],
  ['expired_card', 'new_card'],
  ['fraud', 'new_card'],
  ['invalid_payment_details', 'new_card'],
  ['redacted_payment_method', 'new_card'],
  ['transaction_not_permitted', 'new_card'],
])
