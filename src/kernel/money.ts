import { QuittanceError } from './errors.ts'

/** An amount in the currency's minor unit (cents, kopiykas; whole yen) with its ISO 4217 code. */
export interface Money {
  readonly amount: bigint
  readonly currency: string
}

/** The largest amount: also exact as a JSON number in every client. */
export const largestAmount = BigInt(Number.MAX_SAFE_INTEGER)

const currencyCode = /^[A-Z]{3}$/
const wholeNumber = /^(?:0|[1-9]\d{0,15})$/

/** Whether a value is worded like an ISO 4217 code: three capitals. */
export function isCurrency(text: unknown): text is string {
  return typeof text === 'string' && currencyCode.test(text)
}

/** Reads minor units from their source text: digits only, no sign, no exponent; else undefined. */
export function parseMinorUnits(text: string): bigint | undefined {
  if (!wholeNumber.test(text)) return undefined
  const amount = BigInt(text)
  return amount <= largestAmount ? amount : undefined
}

/** Makes money out of a caller's input, or says which of its fields is wrong. */
export function money(amount: bigint | number, currency: string): Money {
  const units = typeof amount === 'bigint' ? amount : toBigInt(amount)
  if (units === undefined || units < 0n || units > largestAmount) {
    throw new QuittanceError(
      'payment_invalid',
      `amount must be a whole number of minor units from 0 to ${largestAmount}, got ${amount}`,
    )
  }
  if (!isCurrency(currency)) {
    throw new QuittanceError(
      'payment_invalid',
      `currency must be an ISO 4217 code in capitals such as UAH, got ${JSON.stringify(currency)}`,
    )
  }
  return { amount: units, currency }
}

function toBigInt(amount: number): bigint | undefined {
  return Number.isSafeInteger(amount) ? BigInt(amount) : undefined
}
