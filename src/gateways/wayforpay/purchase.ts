import { isIP } from 'node:net'
import { QuittanceError } from '../../kernel/errors.ts'
import { formatMajorUnits, type Money } from '../../kernel/money.ts'
import type { Payment } from '../../payments/payment.ts'
import type { CheckoutRequest } from '../operations.ts'
import { purchaseText } from '../purchase-text.ts'
import type { ApiRequest } from './api.ts'
import { rawNumber } from './raw-number.ts'

/** An amount as WayForPay signs it: `150.75`, `490`. Error: `payment_invalid`. */
export function amountTextOf(money: Money): string {
  const text = formatMajorUnits(money)
  if (text !== undefined) return text
  throw new QuittanceError('payment_invalid', `currency ${money.currency} is not known`)
}

/**
 * What CREATE_INVOICE and CHARGE have in common: an order of one product, signed as the wiki's
 * pages 608996852 and 852194 say: all names first, then all counts, then all prices.
 */
export function purchaseOf(
  { payment, origin, callbackUrl }: CheckoutRequest,
  now: Date,
): Omit<ApiRequest, 'transactionType'> {
  const merchantDomainName = new URL(origin).hostname
  const orderReference = payment.id
  const orderDate = Math.floor(now.getTime() / 1000)
  const amount = amountTextOf(payment)
  const { currency } = payment
  const product = purchaseText(payment)
  return {
    orderReference,
    fields: {
      merchantAuthType: 'SimpleSignature',
      merchantDomainName,
      orderDate,
      amount: rawNumber(amount),
      currency,
      productName: [product],
      productCount: [1],
      productPrice: [rawNumber(amount)],
      serviceUrl: callbackUrl,
      ...clientOf(payment),
    },
    signedTexts: [
      merchantDomainName,
      orderReference,
      String(orderDate),
      amount,
      currency,
      product,
      '1',
      amount,
    ],
  }
}

/** What is known of the payer, under WayForPay's names; nothing is made up. */
function clientOf(payment: Payment): Readonly<Record<string, string>> {
  const name = customerText(payment, 'name') ?? ''
  const [, first = name, last] = /^(\S+)\s+(.+)$/s.exec(name) ?? []
  const country = customerText(payment, 'country')
  const fields = {
    clientFirstName: customerText(payment, 'first_name') ?? first,
    clientLastName: customerText(payment, 'last_name') ?? last,
    clientEmail: customerText(payment, 'email'),
    clientPhone: customerText(payment, 'phone'),
    // Three letters of ISO 3166, e.g. `UKR`.
    clientCountry: country && /^[A-Z]{3}$/.test(country) ? country : undefined,
  }
  const known = Object.entries(fields).filter(([, text]) => text !== undefined && text !== '')
  return Object.fromEntries(known) as Readonly<Record<string, string>>
}

/** The payer's address, which CHARGE requires; if it is unknown, this machine's. */
export function clientIpAddressOf(payment: Payment): string {
  const address = customerText(payment, 'ip') ?? ''
  return isIP(address) === 0 ? '127.0.0.1' : address
}

function customerText({ customer }: Payment, field: string): string | undefined {
  const value = customer?.[field]
  return typeof value === 'string' ? value.trim().toWellFormed() : undefined
}
