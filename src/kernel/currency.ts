import { data } from 'currency-codes'
import { currencyCodes } from './currency-code.ts'

/** A currency of ISO 4217. */
export interface Currency {
  /** Three capitals, e.g. `UAH`. */
  readonly code: string
  /** Three digits, e.g. `980`. */
  readonly number: string
  /** Decimals of the minor unit: 2 for most, 0 for the yen, 3 for the Kuwaiti dinar. */
  readonly digits: number
}

/** What ISO 4217 has added since the package was made. A test says which of these it has by now. */
export const addedSince: readonly Currency[] = [{ code: 'XCG', number: '532', digits: 2 }]

const byCode = new Map<unknown, Currency>()
const byNumber = new Map<string, Currency>()
for (const currency of [...data, ...addedSince]) {
  byCode.set(currency.code, currency)
  byNumber.set(currency.number, currency)
}

/** The currency of exactly this code; undefined for any other spelling. */
export function findCurrency(code: unknown): Currency | undefined {
  return byCode.get(code)
}

const money: ReadonlySet<unknown> = new Set(currencyCodes)

/** Whether this code stands for something that payments can be made in. */
export function isMoney(code: unknown): boolean {
  return money.has(code)
}

/** The currency of this ISO 4217 number, e.g. `980`; leading zeros are part of it (`008`). */
export function findCurrencyByNumber(number: string): Currency | undefined {
  return byNumber.get(number)
}
