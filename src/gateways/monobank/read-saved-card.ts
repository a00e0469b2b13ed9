import { secret } from '../../kernel/secret.ts'
import { ignored, type Outcome } from '../../payments/outcome.ts'
import type { PaymentMethodDetails } from '../../payments/payment-method.ts'
import { isJsonObject, path, textOf } from '../body/json.ts'
import { isMaskedToken, tokenReference } from '../signing/token-reference.ts'
import type { Invoice } from './payload.ts'

/** The card that was saved with the invoice, once the bank has its token. */
export function readSavedCard({ id, body }: Invoice): readonly Outcome[] {
  const wallet = body.get('walletData') ?? undefined
  if (wallet === undefined) return []
  if (!isJsonObject(wallet)) return [ignored('malformed_payload', 'walletData', { money: false })]
  // `new`: not yet; `failed`: never.
  if (wallet.get('status') !== 'created') return []
  const token = textOf(wallet.get('cardToken')) ?? ''
  if (token === '') return [ignored('malformed_payload', 'walletData.cardToken', { money: false })]
  const customerReference = textOf(wallet.get('walletId')) ?? ''
  return [
    {
      type: 'payment_method',
      status: 'attached',
      reference: tokenReference(token),
      payment: { checkoutReference: id },
      ...(plainText.test(customerReference) && { customerReference }),
      details: detailsOf(body),
      ...(!isMaskedToken(token) && { token: secret(token) }),
    },
  ]
}

const plainText = /^[!-~]{1,255}$/
const brandGrammar = /^[a-z][a-z0-9_]{0,31}$/

function detailsOf(body: Invoice['body']): PaymentMethodDetails {
  const brand = textOf(path(body, 'paymentInfo', 'paymentSystem')) ?? ''
  const pan = textOf(path(body, 'paymentInfo', 'maskedPan')) ?? ''
  const lastFour = /(?<=\*)\d{4}$/.exec(pan)?.[0]
  return {
    kind: 'card',
    ...(brandGrammar.test(brand) && { brand }),
    ...(lastFour !== undefined && { lastFour }),
  }
}
