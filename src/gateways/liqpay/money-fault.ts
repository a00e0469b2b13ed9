import type { Money } from '../../kernel/money.ts'

const currencies: ReadonlySet<string> = new Set(['UAH', 'USD', 'EUR'])
/** LiqPay prints numbers as Java does: from ten million on with an exponent, which is not read. */
const endOfPlainNumbers = 10_000_000_00n

/** Why LiqPay cannot take this money, as one phrase; undefined if it can. */
export function moneyFault({ amount, currency }: Money): string | undefined {
  if (!currencies.has(currency)) return 'LiqPay takes UAH, USD and EUR'
  if (amount < 1n) return 'LiqPay takes no payment of nothing'
  if (amount >= endOfPlainNumbers) return 'LiqPay takes less than ten million'
  return undefined
}
