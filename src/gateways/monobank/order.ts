import { createHash } from 'node:crypto'
import { findCurrency } from '../../kernel/currency.ts'
import type { Payment } from '../../payments/payment.ts'
import type { CheckoutRequest } from '../operations.ts'
import { purchaseText } from '../purchase-text.ts'

/** What an invoice and the charge of a saved card have in common, in the bank's form. */
export interface Order {
  /** Minor units. */
  readonly amount: number
  /** The ISO 4217 number. */
  readonly ccy: number
  readonly merchantPaymInfo: {
    /** Our payment's id. */
    readonly reference: string
    readonly destination: string
    readonly customerEmails?: readonly string[]
  }
  readonly redirectUrl: string
  readonly webHookUrl: string
}

export function orderOf({ payment, callbackUrl, returnUrl }: CheckoutRequest): Order {
  return {
    // Exact: no payment is larger than a double can hold.
    amount: Number(payment.amount),
    ccy: Number(findCurrency(payment.currency)?.number),
    merchantPaymInfo: {
      reference: payment.id,
      destination: destinationOf(payment),
      ...emailsOf(payment),
    },
    redirectUrl: returnUrl,
    webHookUrl: callbackUrl,
  }
}

const longestDestination = 280

function destinationOf(payment: Payment): string {
  // A cut in the middle of a character would leave half of it.
  return purchaseText(payment)
    .slice(0, longestDestination)
    .replace(/[\ud800-\udbff]$/, '')
}

const emailGrammar = /^[^\s@]{1,64}@[^\s@]{1,255}$/

/** The bank sends the fiscal receipt to these addresses. */
function emailsOf({ customer }: Payment): { readonly customerEmails?: readonly string[] } {
  const email = customer?.email
  const isEmail = typeof email === 'string' && emailGrammar.test(email)
  return isEmail ? { customerEmails: [email] } : {}
}

/**
 * The wallet in which the bank keeps a customer's cards: of the customer if the payment names one,
 * else of the payable. It is a digest, in the form of the bank's own example: the characters
 * allowed in a wallet's id are not documented, and no customer's name is sent.
 */
export function walletIdOf({ customer, payable }: Payment): string {
  const id = customer?.id
  const owner = typeof id === 'string' && id !== '' ? ['customer', id] : [payable.type, payable.id]
  return createHash('sha256').update(JSON.stringify(owner)).digest('hex').slice(0, 32)
}
