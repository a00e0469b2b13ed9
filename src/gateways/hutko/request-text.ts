import type { Payment } from '../../payments/payment.ts'
import { purchaseText } from '../purchase-text.ts'
import { separator } from './shifted-fields.ts'

/** The longest description or comment. */
const longestText = 1024

/**
 * A free text as a parameter: one line, without the character that joins the signed values, which
 * the provider refuses (1034).
 */
export function plainText(text: string): string {
  const line = text.replaceAll(separator, '/').replaceAll(/[\p{Cc}\s]+/gu, ' ')
  return line.trim().slice(0, longestText).trim().toWellFormed()
}

/** An address with the same character escaped. */
export function plainUrl(url: string): string {
  return url.replaceAll(separator, '%7C')
}

/**
 * If it came back in callbacks, it would be among signed values that are recognized only by their
 * form: a number directly after the merchant, a currency before the order.
 */
const mistakable = /^(?:\d+|[A-Z]{3})$/

/** What the payer reads about the purchase. */
export function descriptionOf({ id, description }: Payment): string {
  const text = purchaseText({ id, description: plainText(description ?? '') })
  return mistakable.test(text) ? `#${text}` : text
}

// It comes back in callbacks, among the signed values: it must not be mistaken for another one.
const emailGrammar = /^[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/
const longestEmail = 254

/** The payer's address; empty if there is none, or it has an uncommon form. */
export function emailOf({ customer }: Payment): string {
  const email = customer?.['email']
  const isUsual = typeof email === 'string' && emailGrammar.test(email)
  return isUsual && email.length <= longestEmail ? email : ''
}
