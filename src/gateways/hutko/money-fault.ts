import { findCurrency } from '../../kernel/currency.ts'
import type { Money } from '../../kernel/money.ts'

/** `amount` is documented as a number of at most 12 digits. */
const largest = 999_999_999_999n

/**
 * Why no order can be made for this money; the merchant's contract determines which currencies are
 * enabled.
 */
export function moneyFault({ amount, currency }: Money): string | undefined {
  if (amount === 0n) return 'it takes no order over nothing'
  if (amount > largest) return 'it takes amounts of up to 12 digits'
  // All documented amounts are in cents: for other units it is not documented how they are counted.
  return findCurrency(currency)?.digits === 2
    ? undefined
    : `it takes currencies with two decimals, and ${currency} is none`
}
