import { seconds } from '../../kernel/duration.ts'
import { textOf } from '../body/json.ts'
import { checkoutLanguage } from '../checkout-language.ts'
import { isHttpUrl } from '../is-http-url.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { CheckoutRequest, OpenedCheckout } from '../operations.ts'
import { invalidReply, openApi, type Parameters } from './api.ts'
import { acceptedFields } from './reply.ts'
import { descriptionOf, emailOf, plainUrl } from './request-text.ts'

/**
 * Opens a checkout of an order. The reply's `payment_id` is not stored: each try of the payer has
 * its own, and only that of the paid one counts. https://docs.fondy.eu/en/docs/page/3
 */
export async function openCheckout(
  request: CheckoutRequest,
  context: OperationContext,
): Promise<OpenedCheckout> {
  const { payment, returnUrl, saveCard } = request
  const asked = Math.floor((request.expiresAt.getTime() - context.now.getTime()) / seconds(1))
  const lifetime = Math.min(Math.max(asked, shortestLifetime), longestLifetime)
  const reply = await openApi(payment, context).send('checkout/url', {
    ...orderParameters(request),
    response_url: plainUrl(returnUrl),
    lifetime: String(lifetime),
    sender_email: emailOf(payment),
    required_rectoken: saveCard ? 'Y' : '',
    lang: checkoutLanguage(payment, ['uk', 'en']) ?? '',
  })
  const fields = acceptedFields(reply)
  const url = textOf(fields.get('checkout_url'))
  if (fields.get('response_status') !== 'success' || url === undefined || !isHttpUrl(url)) {
    throw invalidReply(reply.call, 'no checkout_url')
  }
  if (lifetime === asked) return { url }
  return { url, expiresAt: new Date(context.now.getTime() + seconds(lifetime)) }
}

/** In seconds; the longest is documented. */
const shortestLifetime = 1
const longestLifetime = 69_120_000

/** What every new order contains. */
export function orderParameters({
  payment,
  callbackUrl,
}: Pick<CheckoutRequest, 'payment' | 'callbackUrl'>): Parameters {
  return {
    order_id: payment.id,
    order_desc: descriptionOf(payment),
    amount: String(payment.amount),
    currency: payment.currency,
    server_callback_url: plainUrl(callbackUrl),
  }
}
