import { timeOfWall, wallTime } from '../kernel/wall-time.ts'

/** What stands for a part of the date in the name of a series. */
const placeholders = /\{(year|month)\}/g

const longest = 64

/** With this begin the series of test money, and no others. */
export const testPrefix = 'TEST-'

/**
 * Whether a text names a series: letters, digits, `-`, `_`, `.`, `/` and the two placeholders. That of
 * real money never begins as those of test money do.
 */
export function isSeries(text: string): boolean {
  const isText = /^[\p{L}\p{N}_./-]+$/u.test(text.replaceAll(placeholders, '0'))
  return text.length <= longest && isText && !text.startsWith(testPrefix)
}

interface IssuedAt {
  readonly at: Date
  readonly timeZone: string
  /** Of the charge; null: its provider does not say. */
  readonly live: boolean | null
}

/** The series that a document issued then counts in: `INV-{year}` is `INV-2026`, or `TEST-INV-2026`. */
export function seriesOf(template: string, { at, timeZone, live }: IssuedAt): string {
  const [year = '', month = ''] = monthAt(at, timeZone).split('-')
  const name = template.replaceAll(placeholders, (_, part) => (part === 'year' ? year : month))
  return live === false ? testPrefix + name : name
}

/** The month of a time in this zone: `2026-11`. */
function monthAt(at: Date, timeZone: string): string {
  return new Date(wallTime(at.getTime(), timeZone)).toISOString().slice(0, 7)
}

/** Digits at least, so that a year of documents is listed in their order. */
const digits = 4

/** A number as it is printed. */
export function numberText(series: string, number: bigint): string {
  return `${series}-${number.toString().padStart(digits, '0')}`
}

/** A stretch of time; the end is exclusive. */
export interface Span {
  readonly from: Date
  readonly until: Date
}

/** The month of this name, such as `2026-11`, in this zone; undefined for any other text. */
export function monthOf(text: string, timeZone: string): Span | undefined {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? []
  if (year === undefined || month === undefined || year < '1970') return undefined
  const beginsAt = (later: number) =>
    new Date(timeOfWall(Date.UTC(Number(year), Number(month) - 1 + later, 1), timeZone))
  return { from: beginsAt(0), until: beginsAt(1) }
}
