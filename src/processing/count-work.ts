import { classifyFailure } from '../database/failure.ts'
import type { BillingEvent, EventSource } from '../events/catalogue.ts'
import type { FailureKind } from '../events/failed-attempt.ts'
import { systemClock } from '../kernel/clock.ts'
import { isQuittanceError } from '../kernel/errors.ts'
import { timeOfId } from '../kernel/ids.ts'
import { lostByListener } from '../listeners/dispatch-events.ts'
import type { Numbers } from '../numbers/slots.ts'
import type { Applied } from '../outcomes/applied.ts'
import type { LeasedCall } from '../queue/calls.ts'
import type { LeasedDelivery } from '../queue/deliveries.ts'
import { retryDelay } from '../queue/retry.ts'
import { stateOf } from './finish-calls.ts'

interface Failure {
  readonly error: unknown
  /** The listener that failed, if one did. */
  readonly listener?: string | undefined
}

/** A call that is committed as processed or ignored. */
export function countFinishedCall(
  numbers: Numbers,
  { id, gateway, is_first: isFirst = true }: LeasedCall,
  applied: readonly Applied[],
): void {
  numbers.add('calls_finished_total', { gateway, state: stateOf(applied) })
  for (const one of applied) {
    if (one.kind !== 'ignored') continue
    numbers.add('calls_ignored_total', { gateway, reason: one.result.reason })
  }
  if (!isFirst) return
  const milliseconds = systemClock().getTime() - timeOfId(id)
  numbers.histogram('call_delay_seconds', { gateway }).observe(Math.max(0, milliseconds / 1000))
}

/** An attempt at a call that failed, and was recorded. */
export function countFailedCall(
  numbers: Numbers,
  { gateway, attempts }: LeasedCall,
  failed: Failure,
): void {
  numbers.add('attempts_failed_total', { gateway, kind: whoFailed(failed) })
  if (retryDelay(attempts + 1) !== undefined) return
  numbers.add('calls_finished_total', { gateway, state: 'failed' })
}

function whoFailed({ error, listener }: Failure): FailureKind {
  if (listener !== undefined || lostByListener(error) !== undefined) return 'listener'
  if (isQuittanceError(error) && error.code.startsWith('provider_')) return 'provider'
  return classifyFailure(error) === 'other' ? 'code' : 'database'
}

/** Events that are committed. */
export function countEvents(
  numbers: Numbers,
  events: readonly BillingEvent[],
  source: EventSource,
): void {
  for (const event of events) {
    numbers.add('events_total', { type: event.type, source })
    if (!isDecision(event)) continue
    const { gateway, status } = event.payment
    numbers.add('payments_decided_total', { gateway, status, cause: source })
  }
}

const decisions = ['PaymentSucceeded', 'PaymentFailed', 'PaymentCanceled'] as const
type Decision = Extract<BillingEvent, { readonly type: (typeof decisions)[number] }>

function isDecision(event: BillingEvent): event is Decision {
  return (decisions as readonly string[]).includes(event.type)
}

/** A delivery to a queued listener that will not be tried again. */
export function countDelivery(
  numbers: Numbers,
  { listener }: Pick<LeasedDelivery, 'listener'>,
  state: 'delivered' | 'failed',
): void {
  numbers.add('deliveries_finished_total', { listener, state })
}
