import { z } from 'zod'
import {
  callStates,
  payloadKinds,
  type CallDetails,
  type WebhookCall,
} from '../events/webhook-call.ts'
import type { FailedAttempt } from '../events/failed-attempt.ts'
import { displayJson } from './display-json.ts'
import { deferredEventSchema, deferredEventView } from './event.ts'
import { id, time } from './fields.ts'
import { outcomeResultSchema } from './outcome-result.ts'

/** An attempt that failed: `attempt` begins at 1 again after a replay. */
export const failedAttemptSchema = z.strictObject({
  attempt: z.int(),
  listener: z.string().nullable(),
  exception: z.string(),
  at: time,
})

/** A stored callback. */
export const callSchema = z.strictObject({
  id,
  gateway: z.string(),
  queue: z.string(),
  url: z.string(),
  state: z.enum(callStates),
  attempts: z.int(),
  leases_lost: z.int(),
  outcome: z.array(outcomeResultSchema).readonly().nullable(),
  needs_review: z.boolean(),
  payment_id: id.nullable(),
  dedup_claims: z.array(z.string()).readonly(),
  received_at: time,
  processed_at: time.nullable(),
  /** Null once it has ended. */
  next_attempt_at: time.nullable(),
})

/** The same with what was received. */
export const callDetailsSchema = callSchema.extend({
  headers: z.record(z.string(), z.string()),
  kind: z.enum(payloadKinds),
  payload: z.unknown(),
  /**
   * Only if `payload` does not carry the bytes that were signed, and not if they are encrypted.
   */
  body_base64: z.base64().nullable(),
  body_encrypted: z.boolean(),
  exception: z.string().nullable(),
  deferred_events: z.array(deferredEventSchema),
  failed_attempts: z.array(failedAttemptSchema),
})

export function callView(call: WebhookCall): z.output<typeof callSchema> {
  return {
    id: call.id,
    gateway: call.gateway,
    queue: call.queue,
    url: call.url,
    state: call.state,
    attempts: call.attempts,
    leases_lost: call.leasesLost,
    outcome: call.outcome,
    needs_review: call.needsReview,
    payment_id: call.paymentId,
    dedup_claims: call.dedupClaims,
    received_at: call.receivedAt.toISOString(),
    processed_at: call.processedAt?.toISOString() ?? null,
    next_attempt_at: isWaiting(call) ? call.nextAttemptAt.toISOString() : null,
  }
}

export function failedAttemptView(failed: FailedAttempt): z.output<typeof failedAttemptSchema> {
  const { attempt, listener, exception, at } = failed
  return { attempt, listener, exception, at: at.toISOString() }
}

function isWaiting(call: WebhookCall): boolean {
  return call.state === 'pending' || call.state === 'processing'
}

export function callDetailsView(call: CallDetails): z.output<typeof callDetailsSchema> {
  return {
    ...callView(call),
    headers: call.headers,
    kind: call.kind,
    payload: call.payload === null ? null : displayJson(call.payload),
    body_base64: call.body === null ? null : Buffer.from(call.body).toString('base64'),
    body_encrypted: call.bodyEncrypted,
    exception: call.exception,
    deferred_events: call.deferredEvents.map(deferredEventView),
    failed_attempts: call.failedAttempts.map(failedAttemptView),
  }
}
