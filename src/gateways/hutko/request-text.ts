import type { Payment } from '../../payments/payment.ts'
import { separator } from './shifted-fields.ts'

/** Of a description or a comment. */
const longestText = 1024

/**
 * A free text as a parameter: one line, without the character that joins the signed values, which
 * the provider refuses (1034).
 */
export function plainText(text: string): string {
  const line = text.replaceAll(separator, '/').replaceAll(/[\p{Cc}\s]+/gu, ' ')
  return line.trim().slice(0, longestText).trim().toWellFormed()
}

/** An address with the same character written otherwise. */
export function plainUrl(url: string): string {
  return url.replaceAll(separator, '%7C')
}

/**
 * Should it come back in callbacks, it stands among signed values that are known by their look alone:
 * a number right behind the merchant, a currency before the order.
 */
const mistakable = /^(?:\d+|[A-Z]{3})$/

/** What the payer reads that he pays for. */
export function descriptionOf({ id, description }: Payment): string {
  const text = plainText(description ?? '')
  if (text === '') return `Payment ${id}`
  return mistakable.test(text) ? `#${text}` : text
}

// Comes back in callbacks, among the signed values: nothing that could pass for another one.
const emailGrammar = /^[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/
const longestEmail = 254

/** The payer's address; empty where there is none, or an uncommon one. */
export function emailOf({ customer }: Payment): string {
  const email = customer?.['email']
  const isUsual = typeof email === 'string' && emailGrammar.test(email)
  return isUsual && email.length <= longestEmail ? email : ''
}
