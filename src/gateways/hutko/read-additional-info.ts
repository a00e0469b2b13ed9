import {
  isJsonObject,
  numberTextOf,
  textOf,
  type JsonObject,
  type JsonValue,
} from '../body/json.ts'
import { parseJson } from '../body/parse-json.ts'
import { scalarOf } from './payload.ts'

/** The fields of it that are read. */
export const infoFields = ['capture_amount', 'capture_status', 'is_test'] as const

const none: JsonObject = new Map()

/** `additional_info` is a text that holds JSON; in protocol 2.0 it may be the object itself. */
export function readAdditionalInfo(value: JsonValue | undefined): JsonObject | undefined {
  if (value === undefined || value === null || value === '') return none
  if (isJsonObject(value)) return value
  const parsed = typeof value === 'string' ? parseJson(value) : undefined
  return parsed?.ok && isJsonObject(parsed.value) ? parsed.value : undefined
}

/** The state of capturing blocked money; an order without blocking has no such status. */
export interface Capture {
  /** `held`: blocked on the card, and not ours yet. `unclear`: a word that we do not know. */
  readonly state: 'done' | 'held' | 'unclear'
  /** As the provider writes it; absent if it states none. */
  readonly amount: string | undefined
}

const states: ReadonlyMap<unknown, Capture['state']> = new Map([
  ['', 'done'],
  ['captured', 'done'],
  ['hold', 'held'],
])

/** Only the one word for it counts as captured; another may mean money that was not taken yet. */
export function captureOf(info: JsonObject): Capture {
  const status = info.get('capture_status') ?? ''
  const amount = info.get('capture_amount') ?? ''
  const text = amount === '' ? undefined : (scalarOf(amount) ?? 'unreadable')
  return { state: states.get(status) ?? 'unclear', amount: text }
}

const yes: ReadonlySet<unknown> = new Set([true, 'true', 'Y', '1'])
const no: ReadonlySet<unknown> = new Set([false, 'false', 'N', '0'])

/** Whether it was a test, if it says so. */
export function isTest(info: JsonObject): boolean | undefined {
  const value = info.get('is_test')
  const said = textOf(value) ?? numberTextOf(value) ?? value
  return yes.has(said) ? true : no.has(said) ? false : undefined
}
