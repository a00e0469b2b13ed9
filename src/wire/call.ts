import { z } from 'zod'
import { type FailedAttempt, failedAttemptFields } from '../events/failed-attempt.ts'
import {
  type CallDetails,
  type ReceivedCall,
  type WebhookCall,
  callFields,
  callFilters,
  storedFields,
} from '../events/webhook-call.ts'
import * as field from '../kernel/noun.ts'
import { type Noun, derived, orNull, viewOf } from '../kernel/noun.ts'
import { deferredEventSchema, deferredEventView } from './event.ts'
import { schemaOf } from './noun.ts'
import { outcomeResultSchema } from './outcome-result.ts'

const failedAttemptSchema = schemaOf(failedAttemptFields)

const facts = {
  ...callFields,
  /** Null once it has ended. */
  nextAttemptAt: derived(
    orNull(field.time({ label: 'due' })),
    ({ state, nextAttemptAt }: WebhookCall) =>
      state === 'pending' || state === 'processing' ? nextAttemptAt.toISOString() : null,
  ),
}

const detailFacts = {
  ...facts,
  failedAttempts: derived(
    field.object<z.output<typeof failedAttemptSchema>[]>({ label: 'failed' }),
    ({ failedAttempts }: CallDetails) => failedAttempts.map(viewOf(failedAttemptFields)),
    ({ failedAttempts }) => failedAttempts.map(attemptText).join('\n'),
  ),
  ...storedFields,
  payload: derived(field.object<unknown>(), payloadJson, payloadText),
  /** Only if `payload` does not carry the signed bytes, and not if they are encrypted. */
  bodyBase64: derived(orNull(field.text()), ({ body }: ReceivedCall) =>
    body === null ? null : Buffer.from(body).toString('base64'),
  ),
}

function payloadJson({ payload }: ReceivedCall): unknown {
  return payload === null ? null : displayJson(payload)
}

/** As it was received: to be read as JSON, and copied. */
function payloadText({ payload, bodyEncrypted }: ReceivedCall): string {
  return payload ?? (bodyEncrypted ? '(unreadable; kept encrypted)' : '(unreadable)')
}

function attemptText({ at, attempt, listener, exception }: FailedAttempt): string {
  const [first = ''] = exception.split('\n')
  const where = listener === null ? '' : `, listener ${listener}`
  return `${at.toISOString()}, attempt ${attempt}${where}: ${first}`
}

const outcome = z.array(outcomeResultSchema).readonly().nullable()

/** A stored callback. */
export const callSchema = schemaOf(facts).extend({ outcome })

/** The same with what was received. */
export const callDetailsSchema = schemaOf(detailFacts).extend({
  outcome,
  headers: z.record(z.string(), z.string()),
  payload: z.unknown(),
  body_base64: z.base64().nullable(),
  deferred_events: z.array(deferredEventSchema),
  failed_attempts: z.array(failedAttemptSchema),
})

export const callView: (call: WebhookCall) => z.output<typeof callSchema> = viewOf(facts)

const ownView = viewOf(detailFacts)

export function callDetailsView(call: CallDetails): z.output<typeof callDetailsSchema> {
  return { ...ownView(call), deferred_events: call.deferredEvents.map(deferredEventView) }
}

export const callNoun: Noun<WebhookCall> = {
  plural: 'calls',
  facts,
  filters: callFilters,
  columns: ['id', 'gateway', 'state', 'receivedAt'],
  notes: ['paymentId', 'outcome'],
  view: callView,
}

export const callDetailsNoun: Noun<CallDetails> = {
  ...callNoun,
  facts: detailFacts,
  view: callDetailsView,
}

interface SourceTextAccess {
  parse(
    text: string,
    reviver: (key: string, value: unknown, at: { source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}

// In the language since ES2026 and in every Node that we run on, ahead of TypeScript's library.
const exactJson = JSON as unknown as SourceTextAccess

/**
 * A stored JSON text as a value to show. A number that a double would change (`10.50`, `1e400`)
 * keeps its spelling when the value is written as JSON again; what cannot be read stays text.
 */
export function displayJson(text: string): unknown {
  try {
    return exactJson.parse(text, (_key, value, { source }) =>
      typeof value === 'number' && source !== undefined && source !== String(value)
        ? exactJson.rawJSON(source)
        : value,
    )
  } catch {
    return text
  }
}
