import type { Money } from '../../kernel/money.ts'
import { amountTextOf } from './purchase.ts'

const currencies = ['UAH', 'USD', 'EUR']
/** Whole digits of an amount: as many as we read in callbacks, and as PHP's floats keep. */
const mostWholeDigits = 13

/** Why WayForPay cannot take this money, as one phrase; undefined if it can. */
export function moneyFault({ amount, currency }: Money): string | undefined {
  if (!currencies.includes(currency)) return `WayForPay takes ${currencies.join(', ')} only`
  if (amount <= 0n) return 'WayForPay takes no payment of nothing'
  const [whole = ''] = amountTextOf({ amount, currency }).split('.')
  return whole.length > mostWholeDigits
    ? `WayForPay takes amounts of at most ${mostWholeDigits} whole digits`
    : undefined
}
