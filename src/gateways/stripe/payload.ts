import { isJsonObject, path, textOf, type JsonObject, type JsonValue } from '../body/json.ts'
import type { Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'
import { timeIn } from './fields.ts'
import {
  ignored,
  type AccountStatement,
  type IgnoredOutcome,
  type PaymentOutcome,
} from '../../payments/outcome.ts'

/** An object as it was at one moment: when an event happened, or when it was fetched. */
export interface Snapshot {
  /** The event's; undefined for what was fetched. */
  readonly id: string | undefined
  /** The event's; `poll` for what was fetched. */
  readonly type: string
  readonly live: boolean | undefined
  /** The connected account (`acct_...`) that it is about; absent for the platform's own. */
  readonly account: string | undefined
  /** When the event happened; absent for what was fetched. */
  readonly happenedAt?: Date
  /** Checked when a handler needs it. */
  readonly object: JsonValue | undefined
  /**
   * The payment for which it was fetched: it belongs to that payment if it does not say otherwise
   * itself.
   */
  readonly fetchedFor?: string
}

/** The envelope of a snapshot event. https://docs.stripe.com/api/events/object */
export interface StripeEvent extends Snapshot {
  /** The version that the object is rendered in. */
  readonly apiVersion: string | undefined
  /** The previous values of the fields that changed. */
  readonly previous: JsonObject | undefined
}

export type EventResult =
  | { readonly ok: true; readonly event: StripeEvent }
  | { readonly ok: false; readonly outcome: IgnoredOutcome }

export function readEvent(payload: Payload): EventResult {
  if (payload.kind === 'unreadable') return refused(ignored('unreadable_payload', payload.reason))
  if (payload.kind === 'form' || !isJsonObject(payload.value)) return malformed('body')
  const event = payload.value
  const type = textOf(event.get('type'))
  if (type === undefined) return malformed('type')
  const envelope = event.get('object')
  // A thin event names what changed, without its content.
  if (envelope === 'v2.core.event') return refused(ignored('unhandled_event', detail(type)))
  if (envelope !== 'event') return malformed('object')
  const live = event.get('livemode')
  if (live !== undefined && typeof live !== 'boolean') return malformed('livemode')
  const account = event.get('account') ?? undefined
  if (account !== undefined && !isId(account, 'acct_')) return malformed('account')
  const previous = path(event, 'data', 'previous_attributes')
  const happenedAt = timeIn(event.get('created'))
  return {
    ok: true,
    event: {
      id: textOf(event.get('id')),
      type,
      apiVersion: textOf(event.get('api_version')),
      live,
      account,
      ...(happenedAt !== undefined && { happenedAt }),
      object: path(event, 'data', 'object'),
      previous: isJsonObject(previous) ? previous : undefined,
    },
  }
}

/** What ties everything that an object states to an account and a mode. */
export function accountStatement({
  account,
  live,
}: Pick<Snapshot, 'account' | 'live'>): AccountStatement {
  return {
    ...(account !== undefined && { merchantAccount: account }),
    ...(live !== undefined && { live }),
  }
}

const idGrammar = /^[A-Za-z0-9_]{1,255}$/

/** Stripe's ids are short and plain; anything else would not fit our unique indexes. */
export function isId(
  value: JsonValue | undefined,
  ...prefixes: readonly string[]
): value is string {
  if (typeof value !== 'string' || !idGrammar.test(value)) return false
  return prefixes.length === 0 || prefixes.some((prefix) => value.startsWith(prefix))
}

/** The subscription that an object belongs to, if this is a subscription's id. */
export function subscriptionOf(
  value: JsonValue | undefined,
): Pick<PaymentOutcome, 'subscriptionReference'> {
  return isId(value, 'sub_') ? { subscriptionReference: value } : {}
}

/**
 * The object, if it is an object of that kind with an id; otherwise the name of the wrong field.
 */
export function readObject(
  { object }: Snapshot,
  kind: string,
  ...idPrefixes: readonly string[]
): { readonly object: JsonObject; readonly id: string } | { readonly malformed: string } {
  if (!isJsonObject(object)) return { malformed: 'data.object' }
  if (object.get('object') !== kind) return { malformed: 'data.object.object' }
  const id = object.get('id')
  return isId(id, ...idPrefixes) ? { object, id } : { malformed: 'data.object.id' }
}

function malformed(field: string): EventResult {
  return refused(ignored('malformed_payload', field))
}

function refused(outcome: IgnoredOutcome): EventResult {
  return { ok: false, outcome }
}
