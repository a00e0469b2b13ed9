import { z } from 'zod'
import { isMoney } from './currency.ts'
import { hasFields } from './has-fields.ts'
import { largestAmount } from './money.ts'

/** Deeper than any honest `metadata`, and far from what makes `JSON.stringify` run out of stack. */
const greatestDepth = 16

/** The message about a value that a rule does not allow. */
export function must(text: string) {
  return {
    error: (issue: { input?: unknown }) => (issue.input === undefined ? 'is required' : text),
  }
}

/**
 * Text that is shown, logged and sent to providers: no control characters, which a terminal would
 * obey, and no lone surrogates, which the database would not give back as they were.
 */
export function text(longest: number) {
  const rule = must(`must be text of 1 to ${longest} characters without control characters`)
  return z.string(rule).min(1, rule).max(longest, rule).refine(isPrintable, rule)
}

function isPrintable(value: string): boolean {
  return value.isWellFormed() && !/\p{Cc}/u.test(value)
}

const urlRule = must('must be an http or https URL')

/** Blanks at either end do not count, as in a browser. JSON Schema does not see through that. */
export function webUrl(longest: number) {
  return z
    .string(urlRule)
    .trim()
    .pipe(text(longest))
    .refine((value) => /^https?:\/\//i.test(value) && URL.canParse(value), urlRule)
    .meta({ format: 'uri', minLength: 1, maxLength: longest })
}

const uuidRule = must('must be a UUID')
/** It is read in its canonical spelling, whatever the letters are. */
export const uuid = z.guid(uuidRule).toLowerCase()

export const flag = z.boolean(must('must be true or false'))

const timeRule = must('must be a time in ISO 8601, such as 2026-11-20T09:30:00Z')
/** A `Date`, or its text in JSON. */
export const time = z.union(
  [z.date(), z.iso.datetime({ offset: true }).transform((value) => new Date(value))],
  timeRule,
)

/** Minor units, which are a number in JSON. */
export function minorUnits(least: bigint) {
  const rule = must(`must be a whole number of minor units from ${least} to ${largestAmount}`)
  return wholeNumber({ least, most: largestAmount }, rule)
}

interface Range {
  readonly least: bigint
  readonly most: bigint
}

/** A bigint, or a number in JSON, which holds all of the range exactly. */
export function wholeNumber({ least, most }: Range, rule: ReturnType<typeof must>) {
  const number = z.int(rule).min(Number(least), rule).max(Number(most), rule)
  return z.union([z.bigint(rule).min(least, rule).max(most, rule), number.transform(BigInt)], rule)
}

const currencyRule = must(
  'must be the ISO 4217 code of a currency to pay with, in capitals, such as UAH',
)
export const currency = z
  .string(currencyRule)
  .regex(/^[A-Z]{3}$/, currencyRule)
  .refine(isMoney, currencyRule)

const objectRule = must(
  `must be an object that JSON can hold, nested at most ${greatestDepth} deep`,
)
/** In its JSON form, so that it stays the same once it is stored. */
export const jsonObject = z
  .unknown()
  .transform(asJson)
  .pipe(z.record(z.string(), z.unknown(), objectRule))
  .refine((value) => isShallow(value, greatestDepth), objectRule)
  .meta({ type: 'object', additionalProperties: true })

/** Null where JSON cannot hold it: maps, numbers of any size, objects that hold themselves. */
function asJson(value: unknown): unknown {
  if (!hasFields(value)) return null
  try {
    return JSON.parse(JSON.stringify(value)) as unknown
  } catch {
    return null
  }
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1))
}

export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, must(`must be one of ${values.join(', ')}`))
}

/** A field that may be left out or null, as a merchant's own row may have it. */
export function orNull<T>(rule: z.ZodType<T>) {
  return rule
    .nullish()
    .transform((value) => value ?? undefined)
    .optional()
}
