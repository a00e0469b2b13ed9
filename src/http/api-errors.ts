import { HTTPException } from 'hono/http-exception'
import { isPassing } from '../database/failure.ts'
import { message, unavailable } from '../intake/responses.ts'
import { isQuittanceError, type ErrorCode } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import { internalError, json, respond } from './respond.ts'

/** What the management API answers for a failure that its caller can mend; all others are 500. */
const statusOf: Partial<Record<ErrorCode, number>> = {
  cursor_invalid: 400,
  payment_not_found: 404,
  call_not_found: 404,
  payment_exists: 409,
  call_in_progress: 409,
  payment_invalid: 422,
  gateway_unknown: 422,
  gateway_not_configured: 422,
}

/** Failures of the database that pass by themselves. */
const passing: ReadonlySet<ErrorCode> = new Set(['database_unreachable', 'embedded_lost'])

/** Ends a request with 400 and a sentence that says what is wrong with it. */
export function refuse(text: string, status: 400 | 413 = 400): HTTPException {
  return new HTTPException(status, { message: text })
}

export function apiError(error: Error, log: Log): Response {
  if (error instanceof HTTPException) return respond(message(error.status, error.message))
  if (isQuittanceError(error)) {
    const status = statusOf[error.code]
    if (status !== undefined) return json(status, { message: error.message, code: error.code })
  }
  if (isPassing(error) || (isQuittanceError(error) && passing.has(error.code))) {
    log.warn({ err: error }, 'the database did not answer the management API')
    return respond(unavailable)
  }
  log.error({ err: error }, 'a request to the management API failed unexpectedly')
  return respond(internalError)
}
