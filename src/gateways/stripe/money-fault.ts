import type { Money } from '../../kernel/money.ts'

/** Stripe counts them in another unit than ISO 4217 does, and so than Quittance does. */
const otherUnits: ReadonlySet<string> = new Set(['ISK', 'MGA', 'UGX'])
/** Counted in thousandths; the card networks take hundredths. */
const thousandths: ReadonlySet<string> = new Set(['BHD', 'JOD', 'KWD', 'OMR', 'TND'])

/**
 * Amounts are sent as they are, in minor units. What is too small, too large or in no currency of
 * the account, Stripe says itself. https://docs.stripe.com/currencies
 */
export function moneyFault({ amount, currency }: Money): string | undefined {
  if (otherUnits.has(currency)) return `Stripe counts ${currency} in another unit than ISO 4217`
  if (thousandths.has(currency) && amount % 10n !== 0n) {
    return `Stripe takes amounts in ${currency} only with a last digit of 0`
  }
  return undefined
}
