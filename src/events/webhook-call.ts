import * as field from '../kernel/noun.ts'
import { byChoice, byFlag, byGateway, byId, listOf, orNull } from '../kernel/noun.ts'
import type { Values } from '../kernel/noun.ts'
import type { OutcomeResult } from '../payments/outcome.ts'
import { isReviewReason, type ReviewReason } from '../payments/reasons.ts'
import type { DeferredEvent } from './event-record.ts'
import type { FailedAttempt } from './failed-attempt.ts'

export const callStates = ['pending', 'processing', 'processed', 'ignored', 'failed'] as const
/** `pending` and `processing` go on; `processed`, `ignored` and `failed` are final. */
export type CallState = (typeof callStates)[number]

export const payloadKinds = ['json', 'form', 'unreadable'] as const
/** How a body reads: as JSON, as form fields, or not at all. */
export type PayloadKind = (typeof payloadKinds)[number]

/** What JSON has of a call wherever it is, in a list too. */
export const callFields = {
  id: field.id('call'),
  gateway: field.text({ of: 'gateway' }),
  url: field.text({ label: 'URL' }),
  receivedAt: field.time(),
  state: field.choice(callStates),
  attempts: field.count({ label: 'failed attempts' }),
  leasesLost: field.count({ label: 'workers lost' }),
  nextAttemptAt: field.time(),
  needsReview: field.flag(),
  paymentId: orNull(field.id('payment')),
  /** Keys of the events that this call claimed. */
  dedupClaims: listOf(field.text(), { label: 'claims', toText: (claims) => claims.join('\n') }),
  outcome: orNull(
    field.object<readonly OutcomeResult[]>({
      toText: (results) => results.map((one) => JSON.stringify(one)).join('\n'),
    }),
  ),
  processedAt: orNull(field.time()),
  queue: field.text(),
}

/** What JSON has of it where it is alone. */
export const storedFields = {
  headers: field.object<Readonly<Record<string, string>>>({
    toText: (headers) =>
      Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n'),
  }),
  kind: field.choice(payloadKinds),
  /** The exact bytes are kept encrypted: `payload` masks what they carry. */
  bodyEncrypted: field.flag(),
  exception: orNull(field.text()),
}

/** A stored callback. One exists only if its signature was valid. */
export interface WebhookCall extends Values<typeof callFields>, Values<typeof storedFields> {}

/** The same with what was received, which may be long: lists do not have it. */
export interface ReceivedCall extends WebhookCall {
  /** The JSON text as received, or the JSON object of a form's fields; null if unreadable. */
  readonly payload: string | null
  /** The exact bytes, kept only where `payload` does not carry them; null if encrypted. */
  readonly body: Uint8Array | null
}

/** A stored callback with what became of it. */
export interface CallDetails extends ReceivedCall {
  /** Events of what it moved that wait for a retry of their listeners, or have failed. */
  readonly deferredEvents: readonly DeferredEvent[]
  /** Oldest first; the last one is the exception of the call, too. */
  readonly failedAttempts: readonly FailedAttempt[]
}

/** What narrows a list of calls. */
export const callFilters = {
  state: byChoice(callStates),
  gateway: byGateway,
  needsReview: byFlag('only those that a person must look at', {
    label: 'Needs a person',
    parameter: 'review',
  }),
  paymentId: byId('payment'),
}

/** Why a call changes nothing, or needs a person; each reason once. */
export function reasonsOf({
  state,
  outcome,
}: Pick<WebhookCall, 'state' | 'outcome'>): readonly ReviewReason[] {
  if (state === 'failed') return ['call_failed']
  const named = (outcome ?? []).map((one) => (one.result === 'ignored' ? one.reason : one.detail))
  return [...new Set(named.filter(isReviewReason))]
}
