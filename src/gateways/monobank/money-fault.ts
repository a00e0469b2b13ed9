import type { Money } from '../../kernel/money.ts'

const currencies: ReadonlySet<string> = new Set(['UAH', 'USD', 'EUR'])

/** The bank names three currencies; an amount of zero is for checking a card. */
export function moneyFault({ amount, currency }: Money): string | undefined {
  if (!currencies.has(currency)) return `monobank takes UAH, USD and EUR, not ${currency}`
  return amount > 0n ? undefined : 'monobank takes no payment of nothing'
}
