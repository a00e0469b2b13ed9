import { textOf } from '../body/json.ts'
import { checkoutLanguage } from '../checkout-language.ts'
import { isHttpUrl } from '../is-http-url.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { CheckoutRequest, OpenedCheckout } from '../operations.ts'
import { accountFor, askOnce } from './api.ts'
import { purchaseOf } from './purchase.ts'
import { reasonCodeOf, reasonCodes, unusable } from './reason-code.ts'

const create = 'CREATE_INVOICE'

/** What WayForPay calls the languages of its page; Russian, the third one, is its default. */
const languageNames = { uk: 'UA', en: 'EN' } as const

/** The least time that a payer needs to type a card number. */
const shortestLifetimeSeconds = 60

/**
 * CREATE_INVOICE (the wiki's page 608996852). WayForPay returns the URL once: a repeated request
 * gets the code of a duplicate and no URL. The reply is not signed.
 */
export async function openCheckout(
  request: CheckoutRequest,
  context: OperationContext,
): Promise<OpenedCheckout> {
  const { payment, returnUrl, expiresAt } = request
  accountFor(payment.merchantAccount, context)
  const purchase = purchaseOf(request, context.now)
  const askedSeconds = Math.ceil((expiresAt.getTime() - context.now.getTime()) / 1000)
  const orderTimeout = Math.max(askedSeconds, shortestLifetimeSeconds)
  const language = checkoutLanguage(payment, ['uk', 'en'])
  const fields = {
    ...purchase.fields,
    returnUrl,
    orderTimeout,
    ...(language !== undefined && { language: languageNames[language] }),
  }
  const reply = await askOnce({ ...purchase, transactionType: create, fields }, context)
  if (reasonCodeOf(reply) !== reasonCodes.ok) throw unusable(create, 'no_invoice', reply)
  const url = textOf(reply.get('invoiceUrl'))
  if (url === undefined || !isHttpUrl(url)) throw unusable(create, 'no_invoice_url')
  if (orderTimeout === askedSeconds) return { url }
  return { url, expiresAt: new Date(context.now.getTime() + orderTimeout * 1000) }
}
