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

/** A stored callback. One exists only if its signature was valid. */
export interface WebhookCall {
  readonly id: string
  readonly gateway: string
  readonly queue: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly kind: PayloadKind
  /** The exact bytes are kept encrypted: `payload` masks what they carry. */
  readonly bodyEncrypted: boolean
  readonly state: CallState
  readonly attempts: number
  readonly leasesLost: number
  readonly nextAttemptAt: Date
  readonly exception: string | null
  readonly outcome: readonly OutcomeResult[] | null
  readonly needsReview: boolean
  readonly paymentId: string | null
  readonly receivedAt: Date
  readonly processedAt: Date | null
  /** Keys of the events that this call claimed. */
  readonly dedupClaims: readonly string[]
}

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

/** Why a call changes nothing, or needs a person; each reason once. */
export function reasonsOf({
  state,
  outcome,
}: Pick<WebhookCall, 'state' | 'outcome'>): readonly ReviewReason[] {
  if (state === 'failed') return ['call_failed']
  const named = (outcome ?? []).map((one) => (one.result === 'ignored' ? one.reason : one.detail))
  return [...new Set(named.filter(isReviewReason))]
}
