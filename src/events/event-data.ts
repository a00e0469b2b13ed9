import { snakeCase } from '../kernel/field-names.ts'
import { isUuid } from '../kernel/ids.ts'
import type { PlannedEvent } from '../subscriptions/change.ts'
import { periodNeeds } from '../subscriptions/period.ts'
import { quotaName } from '../subscriptions/quota.ts'
import { endReasons, pauseReasons, subscriptionStatuses } from '../subscriptions/subscription.ts'

/** The types of the events of subscriptions. */
export type SubscriptionEventType = PlannedEvent['type']

/** What an event stores of itself, as JSON: names in snake_case, ids and scalars alone. */
export type StoredData = Readonly<Record<string, unknown>>

type DataOf<T extends SubscriptionEventType> = Extract<PlannedEvent, { readonly type: T }>['data']

/** Reads a stored value strictly; undefined: it is no such value. */
type Read<Value> = (stored: unknown) => Value | undefined

type Reads<Data> = { readonly [Field in keyof Data]: Read<Data[Field]> }

const id: Read<string> = (stored) => (isUuid(stored) ? stored : undefined)

const yesOrNo: Read<boolean> = (stored) => (typeof stored === 'boolean' ? stored : undefined)

const count: Read<number> = (stored) =>
  typeof stored === 'number' && Number.isSafeInteger(stored) && stored >= 0 ? stored : undefined

const quota: Read<string> = (stored) =>
  typeof stored === 'string' && quotaName.test(stored) ? stored : undefined

/** A text: JSON has no whole numbers of that size. */
const units: Read<bigint> = (stored) =>
  typeof stored === 'string' && /^(?:0|[1-9]\d{0,18})$/.test(stored) ? BigInt(stored) : undefined

/** Only as we write it: `new Date` reads a great deal more. */
const time: Read<Date> = (stored) => {
  if (typeof stored !== 'string') return undefined
  const date = new Date(stored)
  return !Number.isNaN(date.getTime()) && date.toISOString() === stored ? date : undefined
}

function orNull<Value>(read: Read<Value>): Read<Value | null> {
  return (stored) => (stored === null ? null : read(stored))
}

function oneOf<const Value extends string>(values: readonly Value[]): Read<Value> {
  return (stored) => values.find((value) => value === stored)
}

const status = oneOf(subscriptionStatuses)

/** What each type stores. */
const reads: { readonly [T in SubscriptionEventType]: Reads<DataOf<T>> } = {
  SubscriptionCreated: {},
  SubscriptionRenewed: {
    periodId: id,
    paymentId: orNull(id),
    previousStatus: status,
    skippedPeriods: count,
  },
  SubscriptionPaymentFailed: {
    periodId: id,
    paymentId: orNull(id),
    attempt: count,
    nextAttemptAt: orNull(time),
    needs: oneOf(periodNeeds),
  },
  SubscriptionAccessSuspended: { periodId: id },
  SubscriptionCancelled: { previousStatus: status, reason: oneOf(endReasons) },
  SubscriptionPaused: { reason: oneOf(pauseReasons), resumesAt: orNull(time) },
  SubscriptionResumed: {},
  TrialWillEnd: { renews: yesOrNo, notice: count, endsAt: time },
  TrialEnded: { converts: yesOrNo },
  SubscriptionPeriodEnding: { renews: yesOrNo, notice: count, periodId: id, endsAt: time },
  SubscriptionQuotaReset: {
    quota,
    limit: orNull(units),
    used: units,
    windowStartsAt: time,
    windowEndsAt: orNull(time),
  },
  UsageLimitReached: { quota, limit: units, used: units, percent: count },
}

/** The types of the events of subscriptions. */
export const subscriptionEventTypes = Object.keys(reads) as readonly SubscriptionEventType[]

export function isSubscriptionEventType(type: string): type is SubscriptionEventType {
  return Object.hasOwn(reads, type)
}

/** An event's data as it is stored. */
export function writeEventData({ type, data }: PlannedEvent): StoredData {
  const values: StoredData = { ...data }
  const fields = Object.keys(reads[type]).map((field) => {
    return [snakeCase(field), stored(values[field])]
  })
  return Object.fromEntries(fields) as StoredData
}

function stored(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'bigint' ? `${value}` : value
}

/**
 * What was stored, read back. What a newer version has added is left out; anything else that is not
 * as we write it throws: the event is retried, and then it is a person's.
 */
export function readEventData(type: SubscriptionEventType, stored: StoredData): PlannedEvent {
  const data = Object.entries<Read<unknown>>(reads[type]).map(([field, read]) => {
    const name = snakeCase(field)
    const value = read(stored[name])
    if (value === undefined) throw unreadable(type, name)
    return [field, value]
  })
  return { type, data: Object.fromEntries(data) as unknown } as PlannedEvent
}

function unreadable(type: string, name: string): Error {
  return new Error(`the stored data of ${type} is not as we write it: ${name}`)
}
