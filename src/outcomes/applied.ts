import type { EventType } from '../events/catalogue.ts'
import type { Registry } from '../gateways/registry.ts'
import type { Cipher } from '../kernel/encryption.ts'
import type { NewId } from '../kernel/ids.ts'
import type { IgnoredReason, Outcome, OutcomeResult, PaymentOutcome } from '../payments/outcome.ts'
import type { Dispute } from '../payments/dispute.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import type { Cause, Payment } from '../payments/payment.ts'

/** What one source says: a stored call, or an answer to a poll. */
export interface Report {
  readonly gateway: string
  readonly outcomes: readonly Outcome[]
  readonly cause: Cause
  readonly callId: string | null
}

/** One outcome, and the report that contains it. */
export interface Entry<Stated extends Outcome = Outcome> {
  readonly report: Report
  readonly outcome: Stated
}

/** What is reported of a payment, and the payment under its lock. */
export interface PaymentEntry {
  readonly entry: Entry<PaymentOutcome>
  readonly payment: Payment
}

/** What is reported of a charge besides its own status: of its refunds, of a dispute. */
export interface ChargeEntry<Stated extends Outcome> {
  readonly entry: Entry<Stated>
  /** Its row is locked: such reports of one charge are applied one after the other. */
  readonly charge: Payment
}

/** What applying needs besides the database. */
export interface ApplyContext {
  readonly newId: NewId
  /** Encrypts the tokens of saved cards; without it they are not stored. */
  readonly cipher: Cipher | undefined
  /** Which gateways can be polled. */
  readonly gateways: Pick<Registry, 'find'>
}

/** What an event is about. */
export type Subject =
  | { readonly payment: Payment; readonly dispute?: Dispute }
  | { readonly paymentMethod: PaymentMethod }

/** An event that waits for its claim. */
export interface Claim {
  /** Id of the event row, if the claim is won. */
  readonly eventId: string
  readonly dedupKey: string
  readonly type: EventType
  readonly subject: Subject
  /** What it says is out of date: see the event. */
  readonly superseded?: boolean
}

interface AnyApplied {
  /** The charge that it is about: the call is listed under it. */
  readonly payment: Payment | undefined
  /** A person should look: money may be involved. */
  readonly review: boolean
}

/** What became of an outcome: an event to claim, a change without one, or nothing. */
export type Applied =
  | (AnyApplied & {
      readonly kind: 'claim'
      readonly claim: Claim
      readonly type: string
      readonly detail?: string
    })
  | (AnyApplied & {
      readonly kind: 'recorded'
      readonly result: OutcomeResult & { readonly result: 'applied' | 'duplicate' }
    })
  | (AnyApplied & {
      readonly kind: 'ignored'
      readonly result: OutcomeResult & { readonly result: 'ignored' }
      /** What the call waits for; the first to come is enough. */
      readonly awaiting: readonly string[]
    })

/** Why an outcome changes nothing. */
export interface IgnoredBecause {
  readonly type: Outcome['type'] | 'callback'
  readonly reason: IgnoredReason
  readonly detail?: string | undefined
  readonly review?: boolean
  readonly payment?: Payment | undefined
  readonly awaiting?: readonly string[] | undefined
}

export function ignoredResult(ignoring: IgnoredBecause): Applied & { readonly kind: 'ignored' } {
  const { type, reason, detail, review = false, payment, awaiting = [] } = ignoring
  const result = { result: 'ignored', type, reason } as const
  return {
    kind: 'ignored',
    result: detail === undefined ? result : { ...result, detail },
    review,
    payment,
    awaiting,
  }
}

/** The event that an entry has claimed; undefined if the entry claimed none. */
export function claimedBy(
  entry: Entry,
  applied: ReadonlyMap<Entry, Applied>,
): (Applied & { readonly kind: 'claim' }) | undefined {
  const result = applied.get(entry)
  return result?.kind === 'claim' ? result : undefined
}

export function claimsIn(applied: readonly Applied[]): readonly Claim[] {
  return applied.flatMap((one) => (one.kind === 'claim' ? [one.claim] : []))
}

/** Whether a person should look at what a source said, whatever happens to its events. */
export function needsReview(applied: readonly Applied[]): boolean {
  return applied.some(({ review }) => review)
}

/** The ids that an event's row refers to. */
export function subjectIds(subject: Subject): {
  readonly paymentId: string | null
  readonly paymentMethodId: string | null
} {
  return 'payment' in subject
    ? { paymentId: subject.payment.id, paymentMethodId: null }
    : { paymentId: subject.paymentMethod.paymentId, paymentMethodId: subject.paymentMethod.id }
}
