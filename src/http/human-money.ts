import type { Money } from '../kernel/money.ts'

/** Money for people: `UAH 1,250.00`. Exact for every amount; yen have no minor unit. */
export function humanMoney({ amount, currency }: Money): string {
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
  })
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2
  const units = amount.toString().padStart(digits + 1, '0')
  const whole = units.slice(0, units.length - digits)
  const decimal = digits === 0 ? whole : `${whole}.${units.slice(-digits)}`
  // A text keeps every digit; a number would round above 2^53.
  return format.format(decimal as Intl.StringNumericLiteral).replaceAll('\u00a0', ' ')
}
