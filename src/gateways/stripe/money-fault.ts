import type { Money } from '../../kernel/money.ts'

/** Stripe counts these in another unit than ISO 4217, and so than Quittance. */
const otherUnits: ReadonlySet<string> = new Set(['ISK', 'MGA', 'UGX'])
/** Counted in thousandths; the card networks take hundredths. */
const thousandths: ReadonlySet<string> = new Set(['BHD', 'JOD', 'KWD', 'OMR', 'TND'])

/**
 * Amounts are sent unchanged, in minor units. Stripe itself refuses amounts that are too small or
 * too large, and currencies that the account does not have. https://docs.stripe.com/currencies
 */
export function moneyFault({ amount, currency }: Money): string | undefined {
  if (otherUnits.has(currency)) return `Stripe counts ${currency} in another unit than ISO 4217`
  if (thousandths.has(currency) && amount % 10n !== 0n) {
    return `Stripe takes amounts in ${currency} only with a last digit of 0`
  }
  return undefined
}
