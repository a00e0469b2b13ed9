import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { isPassing } from '../../database/failure.ts'
import { message, retryAfter, unavailable } from '../../intake/responses.ts'
import { isQuittanceError, spelled, type ErrorCode } from '../../kernel/errors.ts'
import { snakeCase } from '../../kernel/field-names.ts'
import type { InputFault } from '../../kernel/read-input.ts'
import type { Log } from '../../kernel/log.ts'
import { requestIdOf } from '../request-id.ts'
import { internalError, json, named, respond } from '../respond.ts'

/** What the management API answers to a known failure; all others are 500. */
export const statuses = {
  query_invalid: 400,
  cursor_invalid: 400,
  cursor_unknown: 410,
  feed_crowded: 503,
  payment_not_found: 404,
  call_not_found: 404,
  payment_method_not_found: 404,
  review_not_found: 404,
  run_not_found: 404,
  event_not_found: 404,
  endpoint_not_found: 404,
  endpoint_exists: 409,
  endpoint_declared: 409,
  endpoint_invalid: 422,
  endpoint_url_refused: 422,
  encryption_key_missing: 422,
  review_handled: 409,
  run_exists: 409,
  run_invalid: 422,
  review_invalid: 422,
  subscription_not_found: 404,
  invoice_not_found: 404,
  payment_exists: 409,
  invoice_exists: 409,
  invoice_not_voidable: 409,
  call_in_progress: 409,
  subscription_exists: 409,
  subscription_ended: 409,
  renewal_under_way: 409,
  payment_invalid: 422,
  invoice_invalid: 422,
  subscription_invalid: 422,
  usage_invalid: 422,
  usage_unavailable: 503,
  payment_not_refundable: 409,
  payment_not_cancelable: 409,
  refund_exists: 409,
  refund_under_way: 409,
  refund_too_large: 409,
  gateway_unknown: 422,
  gateway_not_configured: 422,
  refund_invalid: 422,
  return_url_not_allowed: 422,
  payment_method_unusable: 422,
  operation_unsupported: 422,
  // This process is older than a new listener, and about to be replaced.
  listener_missing: 503,
  // The provider said no, or sent nothing readable.
  checkout_refused: 502,
  refund_refused: 502,
  provider_refused: 502,
  provider_reply_invalid: 502,
  // The result is not known yet.
  checkout_unknown: 504,
  refund_unknown: 504,
  provider_unreachable: 504,
} as const satisfies Partial<Record<ErrorCode, number>>

/** Why the management API may refuse. */
export type ApiErrorCode = keyof typeof statuses

export function statusOf(code: ErrorCode): number | undefined {
  return code in statuses ? statuses[code as ApiErrorCode] : undefined
}

/** Failures of the database that pass on their own. */
const passing: ReadonlySet<ErrorCode> = new Set([
  'database_unreachable',
  'database_tls_failed',
  'embedded_lost',
])

/** Ends a request with a sentence that says what is wrong with it. */
export function refuse(text: string, status: 400 | 413 = 400): HTTPException {
  return new HTTPException(status, { message: text })
}

/** The same, of a field. */
export function refuseInput(fault: InputFault, status: 400 | 422 = 400): HTTPException {
  const { message: text, field } = fault
  return new HTTPException(status, { message: text, res: json(status, { message: text, field }) })
}

export function refuseField(field: string, fault: string): HTTPException {
  return refuseInput({ field, message: `${field} ${fault}` })
}

export function apiError(error: Error, c: Context, log: Log): Response {
  const requestId = requestIdOf(c)
  if (error instanceof HTTPException) {
    return error.res ?? respond(message(error.status, error.message))
  }
  if (isQuittanceError(error)) {
    const status = statusOf(error.code)
    if (status !== undefined) {
      const { code, providerCode } = error
      const isOurs = status >= 500
      if (isOurs)
        log.warn({ err: error, requestId }, 'the management API could not do what was asked')
      const { message: said, field } = spelled(error, snakeCase)
      const body = { message: said, code, field, provider_code: providerCode }
      const withId = isOurs ? { ...body, request_id: requestId } : body
      return json(status, withId, status === 503 ? retryAfter : {})
    }
  }
  if (isPassing(error) || (isQuittanceError(error) && passing.has(error.code))) {
    log.warn({ err: error, requestId }, 'the database did not answer the management API')
    return respond(named(unavailable, requestId))
  }
  log.error({ err: error, requestId }, 'a request to the management API failed unexpectedly')
  return respond(internalError(requestId))
}
