import { findCurrency } from './currency.ts'

/** An amount in the currency's minor unit (cents, kopiykas; whole yen) with its ISO 4217 code. */
export interface Money {
  /** In the minor unit of the currency: cents, kopiykas, whole yen. */
  readonly amount: bigint
  /** ISO 4217: `UAH`. */
  readonly currency: string
}

/** The largest amount: also exact as a JSON number in every client. */
export const largestAmount = BigInt(Number.MAX_SAFE_INTEGER)

const wholeNumber = /^(?:0|[1-9]\d{0,15})$/

const decimalNumber = /^(0|[1-9]\d{0,12})(?:\.(\d{1,3}))?$/

/** Whether a value is a currency code of ISO 4217: three capitals that stand for a currency. */
export function isCurrency(text: unknown): text is string {
  return findCurrency(text) !== undefined
}

/** Reads minor units from their source text: digits only, no sign, no exponent; else undefined. */
export function parseMinorUnits(text: string | undefined): bigint | undefined {
  const units = text?.match(wholeNumber)?.[0]
  if (units === undefined) return undefined
  const amount = BigInt(units)
  return amount <= largestAmount ? amount : undefined
}

/**
 * Reads a decimal number of major units (`150.75` hryvnias) from its source text into minor units
 * of the currency. Decimals beyond the currency's own must be zeros (`180.0` yen). Undefined for an
 * unknown currency and for every other spelling: signs, exponents, blanks, separators.
 */
export function parseMajorUnits(
  text: string | undefined,
  currency: string | undefined,
): bigint | undefined {
  const digits = findCurrency(currency)?.digits
  const [whole, fraction = ''] = text?.match(decimalNumber)?.slice(1) ?? []
  if (digits === undefined || whole === undefined) return undefined
  if (!/^0*$/.test(fraction.slice(digits))) return undefined
  const amount = BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'))
  return amount <= largestAmount ? amount : undefined
}

/**
 * Money as a decimal number of major units (`150.75`, `180`): without zeros at the end, so that it
 * is the same text as JSON makes of the number. Undefined for an unknown currency.
 */
export function formatMajorUnits({ amount, currency }: Money): string | undefined {
  const digits = findCurrency(currency)?.digits
  if (digits === undefined) return undefined
  const text = amount.toString().padStart(digits + 1, '0')
  const fraction = text.slice(text.length - digits).replace(/0+$/, '')
  const whole = text.slice(0, text.length - digits)
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** Money as people write it, with all decimals of the currency: `10.00 UAH`, `1999 JPY`. */
export function moneyText(money: Money): string {
  return `${amountText(money)} ${money.currency}`
}

/**
 * The same where the currency stands elsewhere, such as in a column beside it: `10.00`, `1999`.
 * Minor units for an unknown currency.
 */
export function amountText({ amount, currency }: Money): string {
  if (amount < 0n) return `-${amountText({ amount: -amount, currency })}`
  const digits = findCurrency(currency)?.digits ?? 0
  const text = amount.toString().padStart(digits + 1, '0')
  const fraction = digits === 0 ? '' : `.${text.slice(-digits)}`
  return `${text.slice(0, text.length - digits)}${fraction}`
}
