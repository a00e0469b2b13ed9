import type { Interval, Money } from 'quittance'

export const magazine = {
  name: 'Folded',
  about: 'A magazine about paper: how it is made, what is written on it, where it goes.',
} as const

/** What is sold. Amounts are minor units, and the shop's: they never come from a form. */
export const plans = {
  monthly: { amount: 900, currency: 'USD', every: 'month' },
  yearly: { amount: 9_000, currency: 'USD', every: 'year', trialDays: 14 },
} as const

export type Plan = keyof typeof plans

/** Whether a form names something that is sold. */
export function isPlan(name: string): name is Plan {
  return Object.hasOwn(plans, name)
}

/** What saving another card takes; it goes back at once. */
export const cardCheck = { amount: 100, currency: 'USD' } as const

/** As people write it: `$9.00`. */
export function price({ amount, currency }: Money | { amount: number; currency: string }): string {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).format(Number(amount) / 100)
}

/** `$9.00 a month`. */
export function priceOf(terms: Money & { readonly every: Interval }): string {
  return `${price(terms)} a ${terms.every.unit}`
}

export function day(time: Date): string {
  return new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' }).format(time)
}
