import { isMoney } from '../kernel/currency.ts'
import { days } from '../kernel/duration.ts'
import { parseMajorUnits } from '../kernel/money.ts'

/** An amount and a day as somebody quotes them. */
export interface AmountAndDay {
  /**
   * What the amount may mean, in major units as `formatMajorUnits` writes them: `1,999` is `1999`, or
   * `1.999` where a currency has three decimals.
   */
  readonly amounts: readonly string[]
  /** ISO 4217; undefined: any. */
  readonly currency: string | undefined
  /** In UTC: `2026-11-22`. */
  readonly day: string
}

/** `1 234 567.89 UAH 22 November 2026` */
const mostWords = 8

/**
 * `1999 22.11`, `19.99 EUR yesterday`, `1,999.00 UAH 2026-11-22`, also with the day first. A day without a
 * year is the latest that is not after `now`. Undefined for any other text.
 */
export function readAmountAndDay(text: string, now: Date): AmountAndDay | undefined {
  const words = text.trim().split(/\s+/)
  if (words.length > mostWords) return undefined
  const cuts = words.slice(1).map((_, at) => {
    const [head, tail] = [words.slice(0, at + 1).join(' '), words.slice(at + 1).join(' ')]
    return [head, tail] as const
  })
  const orders = [...cuts, ...cuts.map(([head, tail]) => [tail, head] as const)]
  for (const [amount, day] of orders) {
    const read = { ...readMoney(amount), day: readDay(day.toLowerCase(), now) }
    const { amounts, currency } = read
    if (amounts !== undefined && read.day !== undefined) return { amounts, currency, day: read.day }
  }
  return undefined
}

const signs: Readonly<Record<string, string>> = { '€': 'EUR', '£': 'GBP', '₴': 'UAH' }
const money = /^([a-z]{3}|[€£₴$])? ?(\d[\d .,'’]*?) ?([a-z]{3}|[€£₴$])?$/i

function readMoney(text: string): Partial<Pick<AmountAndDay, 'amounts' | 'currency'>> {
  const [, before, number = '', behind] = money.exec(text) ?? []
  if (before !== undefined && behind !== undefined) return {}
  const written = before ?? behind
  // Many currencies are written as dollars.
  const code = written === '$' ? undefined : written && (signs[written] ?? written.toUpperCase())
  if (code !== undefined && !isMoney(code)) return {}
  const amounts = readNumber(number).filter(
    (amount) => code === undefined || parseMajorUnits(amount, code) !== undefined,
  )
  return amounts.length === 0 ? {} : { amounts, currency: code }
}

const grouped = /^[1-9]\d{0,2}(?:([ .,'’])\d{3})(?:\1\d{3}){0,3}(?:(?!\1)[.,]\d{1,3})?$/
const plain = /^(?:0|[1-9]\d{0,12})(?:[.,]\d{1,3})?$/

/** In groups of thousands, or not, or both: the last point or comma may be either. */
function readNumber(text: string): readonly string[] {
  const separator = grouped.exec(text)?.[1]
  const read = [
    ...(separator === undefined ? [] : [text.replaceAll(separator, '')]),
    ...(plain.test(text) ? [text] : []),
  ]
  return [...new Set(read.map((number) => withoutZeros(number.replace(',', '.'))))]
}

function withoutZeros(number: string): string {
  return number.replace(/(?:\.|(\.\d*?))0+$/, '$1').replace(/\.$/, '')
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const monthName = `(${months.join('|')})[a-z]{0,6}\\.?`

/** Each gives the day, the month and the year by name. */
const dayForms = [
  /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})$/,
  /^(?<day>\d{1,2})\.(?<month>\d{1,2})\.?(?:(?<year>\d{4}))?$/,
  new RegExp(`^(?<day>\\d{1,2}) (?<name>${monthName})(?: (?<year>\\d{4}))?$`),
  new RegExp(`^(?<name>${monthName}) (?<day>\\d{1,2})(?:,? (?<year>\\d{4}))?$`),
]

function readDay(text: string, now: Date): string | undefined {
  if (text === 'today') return dayOf(now.getTime())
  if (text === 'yesterday') return dayOf(now.getTime() - days(1))
  const read = dayForms
    .map((form) => form.exec(text)?.groups)
    .find((groups) => groups !== undefined)
  if (read === undefined) return undefined
  const { year, name, day = '' } = read
  const month = name === undefined ? Number(read['month']) : months.indexOf(name.slice(0, 3)) + 1
  if (year !== undefined) return dayIn(Number(year), month, Number(day))
  // 29 February is there every four years, but for some.
  const years = Array.from({ length: 9 }, (_, back) => now.getUTCFullYear() - back)
  const past = years.map((one) => dayIn(one, month, Number(day)))
  return past.find((one) => one !== undefined && one <= dayOf(now.getTime()))
}

/** Undefined for 31 February. */
function dayIn(year: number, month: number, day: number): string | undefined {
  const text = [pad(year, 4), pad(month, 2), pad(day, 2)].join('-')
  const time = Date.parse(`${text}T00:00:00Z`)
  return Number.isNaN(time) || dayOf(time) !== text ? undefined : text
}

function pad(number: number, digits: number): string {
  return String(number).padStart(digits, '0')
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** The day, and those beside it: what is one day for a payer may be another in UTC. */
export function daysAround(day: string): readonly string[] {
  const time = Date.parse(`${day}T00:00:00Z`)
  return [time, time - days(1), time + days(1)].map(dayOf)
}
