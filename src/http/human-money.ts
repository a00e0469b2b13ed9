import { findCurrency } from '../kernel/currency.ts'
import { formatMajorUnits, moneyText, type Money } from '../kernel/money.ts'

/**
 * Money for people, in their language: `UAH 1,250.00`, `1 250,00 ₴`. Exact for every amount. The
 * decimals are those of ISO 4217, as in the amount: the language data says less of some currencies.
 */
export function humanMoney(money: Money, language: string): string {
  const { currency } = money
  const known = findCurrency(currency)
  // The language data takes no code of another form, and a callback may state any.
  if (known === undefined) return moneyText(money)
  const { digits } = known
  const format = new Intl.NumberFormat(language, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  // A text keeps every digit; a number would round above 2^53.
  const decimal = formatMajorUnits(money) ?? money.amount.toString()
  // Where even a phone is too narrow, an amount is broken between its groups, not within one.
  return format.format(decimal as Intl.StringNumericLiteral).replaceAll(/[\u00a0\u202f]/g, ' ')
}
