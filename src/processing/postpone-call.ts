import type { Database } from '../database/connect.ts'
import type { Registry } from '../gateways/registry.ts'
import { days, type Duration } from '../kernel/duration.ts'
import { isQuittanceError } from '../kernel/errors.ts'
import { exceptionText } from '../kernel/exception-text.ts'
import type { Log } from '../kernel/log.ts'
import { webhookCalls, type LeasedCall } from '../queue/calls.ts'
import { postponeRow } from '../queue/end-rows.ts'

interface PostponeContext {
  readonly database: Database
  readonly gateways: Registry
  readonly log: Log
  scrub(text: string): string
}

/** An outage may last longer than the provider repeats its callbacks. */
const shortestPatience: Duration = days(1)

/**
 * Postpones a call that cannot be interpreted because the provider cannot be asked: no attempt is
 * used as long as the provider itself would repeat the callback, and the pauses grow. False if the
 * failure is another one or has lasted too long: then it counts as an attempt.
 */
export async function postponeCall(
  call: LeasedCall,
  { database, gateways, log, scrub }: PostponeContext,
  error: unknown,
): Promise<boolean> {
  if (!isQuittanceError(error) || error.code !== 'provider_unreachable') return false
  // Stryker disable next-line OptionalChaining: a gateway that is not registered asks nobody
  const retryWindow = gateways.find(call.gateway)?.gateway.retryWindow ?? 0
  const pause = await postponeRow(database.db, webhookCalls, {
    lease: call,
    patience: Math.max(retryWindow, shortestPatience),
    exception: exceptionText(error, scrub),
  })
  if (pause === undefined) return false
  const entry = { err: error, call: call.id, gateway: call.gateway, retryInSeconds: pause / 1000 }
  log.warn(entry, 'the provider cannot be asked: tried again later, no attempt is used')
  return true
}
