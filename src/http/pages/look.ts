import type { Context } from 'hono'
import type { BillingCore } from '../../billing/types.ts'
import type { Payment } from '../../payments/payment.ts'
import { languageFor, type Language } from './language.ts'

/** How a page is shown: its language, whose it is, and whose sites it may lead to. */
export interface Look {
  readonly language: Language
  readonly brand: BillingCore['brand']
  /** Whether payers may be sent on to this URL. */
  allows(url: string): boolean
}

export function lookOf(
  { brand, payments }: Pick<BillingCore, 'brand' | 'payments'>,
  c: Context,
  about?: Pick<Payment, 'customer' | 'currency'>,
): Look {
  const allows = (url: string) => payments.allowsReturn(url)
  return { language: languageFor(c, about), brand, allows }
}
