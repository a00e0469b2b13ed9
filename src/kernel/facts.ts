import { snakeCase } from './field-names.ts'
import { isUuid } from './uuid.ts'

/** A fact that is stored as JSON: what it is there, and how it is read back. */
export interface Fact<Value> {
  readonly form: FactForm
  /** Strict; undefined: what is stored is no such value. */
  readonly read: (stored: unknown) => Value | undefined
}
export type Facts = Readonly<Record<string, Fact<unknown>>>

export type FactForm =
  | { readonly kind: 'id' | 'boolean' | 'text' | 'time' | 'units' }
  | { readonly kind: 'integer'; readonly least?: number }
  | { readonly kind: 'word'; readonly words: readonly string[] }
  | { readonly kind: 'record'; readonly facts: Facts }
  | { readonly kind: 'nullable'; readonly form: FactForm }

export type FactValue<Of> = Of extends Fact<infer Value> ? Value : never
export type FactValues<Of extends Facts> = { readonly [Name in keyof Of]: FactValue<Of[Name]> }

/** What an event stores of itself, as JSON: names in snake_case, ids and scalars alone. */
export type StoredData = Readonly<Record<string, unknown>>

export const id: Fact<string> = {
  form: { kind: 'id' },
  read: (stored) => (isUuid(stored) ? stored : undefined),
}

export const text: Fact<string> = {
  form: { kind: 'text' },
  read: (stored) => (typeof stored === 'string' ? stored : undefined),
}

export function matching(pattern: RegExp): Fact<string> {
  const read: typeof text.read = (stored) =>
    typeof stored === 'string' && pattern.test(stored) ? stored : undefined
  return { ...text, read }
}

export const yesOrNo: Fact<boolean> = {
  form: { kind: 'boolean' },
  read: (stored) => (typeof stored === 'boolean' ? stored : undefined),
}

export const count: Fact<number> = {
  form: { kind: 'integer', least: 0 },
  read: (stored) =>
    typeof stored === 'number' && Number.isSafeInteger(stored) && stored >= 0 ? stored : undefined,
}

/** The first is 1. */
export const ordinal: Fact<number> = { ...count, form: { kind: 'integer', least: 1 } }

export const percentage: Fact<number> = { ...count, form: { kind: 'integer' } }

/** A text: JSON has no whole numbers of that size. */
export const units: Fact<bigint> = {
  form: { kind: 'units' },
  read: (stored) =>
    typeof stored === 'string' && /^(?:0|[1-9]\d{0,18})$/.test(stored) ? BigInt(stored) : undefined,
}

/** Only as we write it: `new Date` reads a great deal more. */
export const time: Fact<Date> = {
  form: { kind: 'time' },
  read: (stored) => {
    if (typeof stored !== 'string') return undefined
    const date = new Date(stored)
    return !Number.isNaN(date.getTime()) && date.toISOString() === stored ? date : undefined
  },
}

export function oneOf<const Word extends string>(words: readonly Word[]): Fact<Word> {
  return { form: { kind: 'word', words }, read: (stored) => words.find((one) => one === stored) }
}

export function orNull<Value>({ form, read }: Fact<Value>): Fact<Value | null> {
  return {
    form: { kind: 'nullable', form },
    read: (stored) => (stored === null ? null : read(stored)),
  }
}

export function record<Of extends Facts>(facts: Of): Fact<FactValues<Of>> {
  const read = (stored: unknown) => {
    if (typeof stored !== 'object' || stored === null) return undefined
    const values = readFacts(facts, stored as StoredData)
    return values.fault === undefined ? (values.read as FactValues<Of>) : undefined
  }
  return { form: { kind: 'record', facts }, read }
}

/** The values of these facts, as they are stored. */
export function writeFacts(facts: Facts, values: Readonly<Record<string, unknown>>): StoredData {
  const stored = Object.keys(facts).map((name) => [snakeCase(name), written(values[name])])
  return Object.fromEntries(stored) as StoredData
}

function written(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'bigint' ? `${value}` : value
}

/** What was stored, read back; what else is stored is left out. `fault`: what cannot be read. */
export function readFacts(
  facts: Facts,
  stored: StoredData,
): { readonly read: Readonly<Record<string, unknown>>; readonly fault?: string } {
  const values: Record<string, unknown> = {}
  for (const [name, { read }] of Object.entries(facts)) {
    const value = read(stored[snakeCase(name)])
    if (value === undefined) return { read: values, fault: snakeCase(name) }
    values[name] = value
  }
  return { read: values }
}
