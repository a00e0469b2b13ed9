import { isIP } from 'node:net'
import { QuittanceError } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import type { Payment } from '../../payments/payment.ts'
import { textOf } from '../body/json.ts'
import { isHttpUrl } from '../is-http-url.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { ChargeReply, ChargeRequest } from '../operations.ts'
import { purchaseText } from '../purchase-text.ts'
import { ask, refusalOf, replyInvalid, shopOf, tellsPayment } from './api.ts'
import { interpretCallback } from './interpret.ts'
import { errorCodeOf, paymentIdOf, type Callback } from './payload.ts'
import { readOwn } from './poll.ts'
import { decimalOf } from './signed-data.ts'

const action = 'paytoken'

/**
 * Charges the card behind a token: one request, signed with the first key. It does not state who
 * began it. Errors: those of a refund.
 * https://www.liqpay.ua/documentation/en/api/aquiring/paytoken/doc
 */
export async function chargeSavedCard(
  { payment, token, callbackUrl }: ChargeRequest,
  { credentials, signal }: OperationContext,
): Promise<ChargeReply> {
  const shop = shopOf(credentials, payment)
  const request = {
    action,
    amount: decimalOf(payment),
    currency: payment.currency,
    description: purchaseText(payment),
    order_id: payment.id,
    card_token: revealed(token),
    ip: addressOf(payment),
    server_url: callbackUrl,
  }
  const reply = await ask(shop, request, signal)
  // The order exists already: the answer may be about another order of that id.
  const isTaken = takenOrder.has(errorCodeOf(reply))
  if (isTaken || !tellsPayment(reply)) throw refusalOf(action, reply)
  const callback = readOwn(action, reply, { payment, shop })
  const providerReference = paymentIdOf(callback)
  const redirectUrl = confirmationUrlOf(callback)
  return {
    outcomes: interpretCallback(callback),
    ...(providerReference !== undefined && { providerReference }),
    ...(redirectUrl !== undefined && { redirectUrl }),
  }
}

const takenOrder: ReadonlySet<string | undefined> = new Set(['order_id_duplicate', '2915'])

function revealed(token: Secret | null): string {
  if (token !== null) return token.reveal()
  throw new QuittanceError(
    'gateway_not_configured',
    'LiqPay charges no saved card without its token, and that was not kept',
    { fix: 'Tokens are kept only with an encryption key; have the payer save the card again.' },
  )
}

/**
 * LiqPay requires the payer's IP address; there is none if the merchant charges without the payer.
 */
function addressOf({ customer }: Payment): string {
  const address = customer?.['ip']
  return typeof address === 'string' && isIP(address) !== 0 ? address : '127.0.0.1'
}

/** Where the payer passes 3-D Secure: https://liqpay.ua/en/doc/api/confirmation/3ds */
function confirmationUrlOf({ status, fields }: Callback): string | undefined {
  if (status !== '3ds_verify') return undefined
  const url = textOf(fields.get('redirect_to'))
  if (url !== undefined && isHttpUrl(url)) return url
  throw replyInvalid(action, '3ds_verify without an address')
}
