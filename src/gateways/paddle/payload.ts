import { findCurrency } from '../../kernel/currency.ts'
import { parseMinorUnits } from '../../kernel/money.ts'
import { ignored, type ClaimedReference, type IgnoredOutcome } from '../../payments/outcome.ts'
import { isJsonObject, path, textOf, type JsonObject, type JsonValue } from '../body/json.ts'
import type { Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'

/** A notification. https://developer.paddle.com/webhooks/overview */
export interface PaddleEvent {
  /** `entity.action`, e.g. `transaction.paid`. */
  readonly type: string
  /** The entity as it was when the event happened; checked when a handler needs it. */
  readonly data: JsonValue | undefined
}

type Refused = { readonly ok: false; readonly outcome: IgnoredOutcome }

export type EventResult = { readonly ok: true; readonly event: PaddleEvent } | Refused

export function readEvent(payload: Payload): EventResult {
  if (payload.kind === 'unreadable') return refused(ignored('unreadable_payload', payload.reason))
  if (payload.kind === 'form' || !isJsonObject(payload.value)) return malformed('body')
  const type = textOf(payload.value.get('event_type'))
  if (type === undefined) return malformed('event_type')
  return { ok: true, event: { type, data: payload.value.get('data') } }
}

export type EntityResult =
  | { readonly ok: true; readonly entity: JsonObject; readonly id: string }
  | Refused

/** The entity of an event, with the id that its kind has. */
export function readEntity({ data }: PaddleEvent, idPrefix: string): EntityResult {
  if (!isJsonObject(data)) return malformed('data')
  const id = data.get('id')
  return isId(id, idPrefix) ? { ok: true, entity: data, id } : malformed('data.id')
}

const idGrammar = /^[a-z]+_[a-z0-9]{1,60}$/

/** Paddle's ids: they are used in the paths of its API and in our unique indexes. */
export function isId(value: JsonValue | undefined, prefix: string): value is string {
  return typeof value === 'string' && value.startsWith(prefix) && idGrammar.test(value)
}

const chargedStatuses: ReadonlySet<JsonValue | undefined> = new Set(['paid', 'completed'])

/** Whether a transaction's money was taken. */
export function isCharged(transaction: JsonObject): boolean {
  return chargedStatuses.has(transaction.get('status'))
}

const timeGrammar = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** RFC 3339, to the millisecond; undefined for anything else. */
export function timeOf(value: JsonValue | undefined): Date | undefined {
  if (typeof value !== 'string' || !timeGrammar.test(value)) return undefined
  const time = new Date(value)
  return Number.isNaN(time.getTime()) ? undefined : time
}

/** A time that is paid for, in a trial, or otherwise meant as a whole. */
export interface TimeSpan {
  readonly startsAt: Date
  readonly endsAt: Date
}

/** `starts_at` and `ends_at`; undefined unless both can be read and are in order. */
export function timeSpanOf(value: JsonValue | undefined): TimeSpan | undefined {
  if (!isJsonObject(value)) return undefined
  const startsAt = timeOf(value.get('starts_at'))
  const endsAt = timeOf(value.get('ends_at'))
  if (startsAt === undefined || endsAt === undefined || endsAt <= startsAt) return undefined
  return { startsAt, endsAt }
}

/** What could be read of an amount; the rest is left out. */
export interface StatedMoney {
  readonly amount?: bigint
  readonly currency?: string
}

/**
 * `total` and `currency_code` of a `totals` object: a text of digits, in the currency's lowest
 * denomination, and a code in capitals. https://developer.paddle.com/concepts/data-types
 */
export function totalOf(totals: JsonValue | undefined): StatedMoney {
  if (!isJsonObject(totals)) return {}
  const amount = parseMinorUnits(textOf(totals.get('total')))
  const currency = findCurrency(totals.get('currency_code'))?.code
  return { ...(amount !== undefined && { amount }), ...(currency !== undefined && { currency }) }
}

/**
 * Our payment's id in `custom_data`, which the page and the payer can replace
 * (https://developer.paddle.com/paddlejs/methods/paddle-checkout-updatecheckout); undefined if
 * there is none.
 */
export function claimIn(entity: JsonObject): ClaimedReference | undefined {
  const reference = path(entity, 'custom_data', 'payment_id') ?? undefined
  if (reference === undefined) return undefined
  return { id: typeof reference === 'string' ? detail(reference) : 'not a text', by: 'payer' }
}

/** `status ready`, for the log and the stored call. */
export function shownField(entity: JsonObject, field: string): string {
  return detail(`${field} ${textOf(entity.get(field)) ?? 'missing'}`)
}

export function refused(outcome: IgnoredOutcome): Refused {
  return { ok: false, outcome }
}

function malformed(field: string): Refused {
  return refused(ignored('malformed_payload', field))
}
