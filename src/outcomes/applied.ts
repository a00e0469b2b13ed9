import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { EventPayloads, EventType } from '../events/catalogue.ts'
import type { StoredData } from '../events/event-data.ts'
import type { Registry } from '../gateways/registry.ts'
import type { Cipher } from '../kernel/encryption.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Money } from '../kernel/money.ts'
import type { Outcome, OutcomeResult, PaymentOutcome } from '../payments/outcome.ts'
import type { Cause, Payment } from '../payments/payment.ts'
import type { IgnoredReason } from '../payments/reasons.ts'
import type { SubscriptionPolicy } from '../subscriptions/change.ts'

/** What one source says: a stored call, or an answer to a poll. */
export interface Report {
  readonly gateway: string
  readonly outcomes: readonly Outcome[]
  readonly cause: Cause
  readonly callId: string | null
  /** The queue whose workers run the queued listeners of what follows; the default one if left out. */
  readonly queue?: string
  /** The subscription that a provider was asked about: its answer asks for no other sync. */
  readonly answersFor?: string
  /** How that subscription stands, as the same answer says, was taken over before. */
  readonly isStanding?: boolean
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
export interface ApplyContext extends SubscriptionContext {
  readonly newId: NewId
  /** Encrypts the tokens of saved cards; without it they are not stored. */
  readonly cipher: Cipher | undefined
}

/** What a decision about a subscription needs, besides its state. */
export interface SubscriptionContext {
  /** Which gateways can be polled, and charge which cards. */
  readonly gateways: Pick<Registry, 'find'>
  /** The time that subscriptions live by: no other clock decides about them. */
  subscriptionTime(db: Kysely<Tables>): Promise<Date>
  readonly subscriptionPolicy: SubscriptionPolicy
}

/** What an event is about, and what else it carries. */
export type Subject = EventPayloads[EventType]

/** An event that waits for its claim. */
export interface Claim {
  /** Id of the event row, if the claim is won. */
  readonly eventId: string
  readonly dedupKey: string
  readonly type: EventType
  readonly subject: Subject
  /** What it says is out of date: see the event. */
  readonly superseded?: boolean
  /** What the event stores of itself, if it does. */
  readonly data?: StoredData
}

interface AnyApplied {
  /** The charge that it is about: the call is listed under it. */
  readonly payment: Payment | undefined
  /** A person should look: money may be involved. */
  readonly review: boolean
  /** One has looked at the very same before: nothing is marked. */
  readonly isHandled?: true
  /** The money that was expected, where it is not the payment's. */
  readonly expected?: Money
}

/** What became of an outcome: an event to claim, a change without one, or nothing. */
export type Applied =
  | (AnyApplied & {
      readonly kind: 'claim'
      readonly claim: Claim
      readonly type: string
      readonly detail?: string
      /** What may change what a person must look at. */
      readonly awaiting?: readonly string[]
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

/** What the call waits for, each name once; then it is processed again. */
export function awaitedBy(applied: readonly Applied[]): readonly string[] {
  const names = applied.flatMap((one) => (one.kind === 'recorded' ? [] : (one.awaiting ?? [])))
  return [...new Set(names)]
}

export function claimsIn(applied: readonly Applied[]): readonly Claim[] {
  return applied.flatMap((one) => (one.kind === 'claim' ? [one.claim] : []))
}

/** Whether a person should look at what a source said, whatever happens to its events. */
export function needsReview(applied: readonly Applied[]): boolean {
  return applied.some(isMarked)
}

/** Whether a person should look at this, and none has. */
export function isMarked({ review, isHandled }: Applied): boolean {
  return review && isHandled !== true
}

/** The ids that an event's row refers to. */
export function subjectIds(subject: Subject): {
  readonly paymentId: string | null
  readonly paymentMethodId: string | null
  readonly subscriptionId: string | null
  readonly invoiceId: string | null
} {
  const none = { paymentId: null, paymentMethodId: null, subscriptionId: null, invoiceId: null }
  if ('endpoint' in subject) return none
  if ('invoice' in subject) {
    const { id: invoiceId, paymentId, subscriptionId } = subject.invoice
    return { ...none, paymentId, subscriptionId, invoiceId }
  }
  if ('subscription' in subject) {
    const paymentId = 'payment' in subject ? (subject.payment?.id ?? null) : null
    return { ...none, paymentId, subscriptionId: subject.subscription.id }
  }
  if ('payment' in subject) return { ...none, paymentId: subject.payment.id }
  const { id, paymentId } = subject.paymentMethod
  return { ...none, paymentId, paymentMethodId: id }
}
