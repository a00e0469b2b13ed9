import { checkoutLanguage } from '../checkout-language.ts'
import type { Credentials } from '../credential-fields.ts'
import type { CheckoutForm, CheckoutOperation, CheckoutRequest } from '../operations.ts'
import { purchaseText } from '../purchase-text.ts'
import { shopOf } from './api.ts'
import { decimalOf, signData } from './signed-data.ts'

/** The payer's browser posts it: https://www.liqpay.ua/doc/api/internet_acquiring/checkout */
export const liqpayCheckout: CheckoutOperation = { kind: 'form', form: checkoutForm }

function checkoutForm(request: CheckoutRequest, credentials: Credentials): CheckoutForm {
  const { payment, callbackUrl, returnUrl, expiresAt, saveCard } = request
  const { publicKey, privateKey, base } = shopOf(credentials, payment)
  const language = checkoutLanguage(payment, ['uk', 'en'])
  const fields = signData(privateKey, {
    version: 3,
    public_key: publicKey,
    action: 'pay',
    amount: decimalOf(payment),
    currency: payment.currency,
    // LiqPay refuses an order without one.
    description: purchaseText(payment),
    order_id: payment.id,
    server_url: callbackUrl,
    result_url: returnUrl,
    expired_date: utcText(expiresAt),
    ...(saveCard && { recurringbytoken: '1' }),
    ...(language !== undefined && { language }),
  })
  return { action: `${base.replace(/\/+$/, '')}/api/3/checkout`, fields }
}

/** `2026-11-20 12:00:00`; fractions of a second are cut off. */
function utcText(date: Date): string {
  return date.toISOString().slice(0, 19).replace('T', ' ')
}
