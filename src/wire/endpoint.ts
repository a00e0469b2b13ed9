import { z } from 'zod'
import {
  disabledReasons,
  endpointPayloads,
  endpointSources,
  forwardStates,
  type Endpoint,
  type Forward,
  type ForwardAttempt,
} from '../events/endpoint.ts'
import { id, time } from './fields.ts'

/** Where events are sent to; never with its secret. */
export const endpointSchema = z.strictObject({
  id,
  name: z.string(),
  source: z.enum(endpointSources),
  url: z.string(),
  description: z.string().nullable(),
  /** A later version may know more of them. */
  event_types: z.array(z.string()).readonly().nullable(),
  gateways: z.array(z.string()).readonly().nullable(),
  payload: z.enum(endpointPayloads),
  max_concurrency: z.int(),
  rate_per_second: z.int().nullable(),
  timeout_seconds: z.int(),
  enabled: z.boolean(),
  disabled_reason: z.enum(disabledReasons).nullable(),
  disabled_at: time.nullable(),
  position: z.int(),
  behind: z.int().min(0).describe('Events beyond its position, wanted or not.'),
  oldest_at: time
    .nullable()
    .describe('When the oldest event was written that it may still get; null: it has had all.'),
  failures: z.int().describe('Requests that have failed in a row: from 5 on only probes are sent.'),
  failing_since: time.nullable(),
  next_at: time.nullable(),
  created_at: time,
  updated_at: time,
})

/** The one time that its secret is shown. */
export const createdEndpointSchema = z.strictObject({
  ...endpointSchema.shape,
  secret: z.string().describe('`whsec_` and base64: it signs, and is shown this once.'),
})

/** An event that did not go at first, or is sent again. */
export const forwardSchema = z.strictObject({
  event_id: id,
  position: z.int(),
  state: z.enum(forwardStates),
  cause: z.enum(['retry', 'resend']),
  attempts: z.int(),
  next_attempt_at: time.nullable(),
})

/** What became of a request. */
const answered = {
  result: z.string(),
  status: z.int().nullable(),
  duration_ms: z.int(),
  response: z.string().nullable(),
}

/** One request to an endpoint. */
export const forwardAttemptSchema = z.strictObject({
  id,
  event_id: id,
  attempt: z.int(),
  at: time,
  ...answered,
  response: answered.response.describe(
    'What a failing answer says, or why there is none; null: nothing, or hidden from who may only read.',
  ),
})

/** What the answer to a test was. */
export const endpointTestSchema = z.strictObject(answered)

export type EndpointJson = z.output<typeof endpointSchema>

export function endpointView(endpoint: Endpoint): EndpointJson {
  return {
    id: endpoint.id,
    name: endpoint.name,
    source: endpoint.source,
    url: endpoint.url,
    description: endpoint.description,
    event_types: endpoint.eventTypes,
    gateways: endpoint.gateways,
    payload: endpoint.payload,
    max_concurrency: endpoint.maxConcurrency,
    rate_per_second: endpoint.ratePerSecond,
    timeout_seconds: endpoint.timeoutSeconds,
    enabled: endpoint.enabled,
    disabled_reason: endpoint.disabledReason,
    disabled_at: endpoint.disabledAt?.toISOString() ?? null,
    position: endpoint.position,
    behind: endpoint.behind,
    oldest_at: endpoint.oldestAt?.toISOString() ?? null,
    failures: endpoint.failures,
    failing_since: endpoint.failingSince?.toISOString() ?? null,
    next_at: endpoint.nextAt?.toISOString() ?? null,
    created_at: endpoint.createdAt.toISOString(),
    updated_at: endpoint.updatedAt.toISOString(),
  }
}

export function createdEndpointView({
  endpoint,
  secret,
}: {
  readonly endpoint: Endpoint
  readonly secret: string
}): z.output<typeof createdEndpointSchema> {
  return { ...endpointView(endpoint), secret }
}

export function forwardView(forward: Forward): z.output<typeof forwardSchema> {
  return {
    event_id: forward.eventId,
    position: forward.position,
    state: forward.state,
    cause: forward.cause,
    attempts: forward.attempts,
    next_attempt_at: forward.nextAttemptAt?.toISOString() ?? null,
  }
}

export function forwardAttemptView(attempt: ForwardAttempt): z.output<typeof forwardAttemptSchema> {
  return {
    id: attempt.id,
    event_id: attempt.eventId,
    attempt: attempt.attempt,
    at: attempt.at.toISOString(),
    ...endpointTestView(attempt),
  }
}

export function endpointTestView(
  answer: Pick<ForwardAttempt, 'result' | 'status' | 'durationMs' | 'response'>,
): z.output<typeof endpointTestSchema> {
  const { result, status, durationMs, response } = answer
  return { result, status, duration_ms: durationMs, response }
}
