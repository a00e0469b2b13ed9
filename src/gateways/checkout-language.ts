import { findLocale, matchLocale } from '../kernel/locale.ts'
import type { Payment } from '../payments/payment.ts'

/** The language tag that a payment's `customer` states; undefined if there is none. */
export function customerLocale({ customer }: Pick<Payment, 'customer'>): Intl.Locale | undefined {
  return findLocale(customer?.['locale'])
}

/**
 * The language to ask the provider's checkout for: the one of those that the provider documents
 * which the customer reads. Undefined: leave the choice to the provider.
 */
export function checkoutLanguage<const T extends string>(
  payment: Pick<Payment, 'customer'>,
  languages: readonly T[],
): T | undefined {
  const locale = customerLocale(payment)
  return locale && matchLocale(locale, languages)
}
