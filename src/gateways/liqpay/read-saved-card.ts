import { readUuid } from '../../kernel/uuid.ts'
import { secret } from '../../kernel/secret.ts'
import { ignored, type AccountStatement, type Outcome } from '../../payments/outcome.ts'
import type { PaymentMethodDetails } from '../../payments/payment-method.ts'
import { textOf, type JsonObject } from '../body/json.ts'
import { isMaskedToken, tokenReference } from '../signing/token-reference.ts'

const tokenGrammar = /^[\x21-\x7e]{1,255}$/

/** The card that came with one of our orders, if any: the checkout requested its token. */
export function readSavedCard(fields: JsonObject, account: AccountStatement): readonly Outcome[] {
  const token = fields.get('card_token') ?? undefined
  const orderId = readUuid(fields.get('order_id'))
  if (token === undefined || token === '' || orderId === undefined) return []
  if (typeof token !== 'string' || !tokenGrammar.test(token)) {
    return [ignored('malformed_payload', 'card_token', { money: false })]
  }
  return [
    {
      type: 'payment_method',
      status: 'attached',
      reference: tokenReference(token),
      payment: { id: orderId },
      details: detailsOf(fields),
      ...(!isMaskedToken(token) && { token: secret(token) }),
      ...account,
    },
  ]
}

const kinds: ReadonlyMap<string, string> = new Map([
  ['apay', 'apple_pay'],
  ['gpay', 'google_pay'],
])

const brands: ReadonlyMap<string, string> = new Map([
  ['visa', 'visa'],
  ['mc', 'mastercard'],
  ['mastercard', 'mastercard'],
  ['prostir', 'prostir'],
])

/** LiqPay mostly shows the last two digits of a number; only four are useful. */
const lastFourGrammar = /\*(\d{4})$/

function detailsOf(fields: JsonObject): PaymentMethodDetails {
  const text = (name: string) => textOf(fields.get(name)) ?? ''
  const brand = brands.get(text('sender_card_type').toLowerCase())
  const [, lastFour] = lastFourGrammar.exec(text('sender_card_mask2').slice(-30)) ?? []
  return {
    kind: kinds.get(text('paytype')) ?? 'card',
    ...(brand !== undefined && { brand }),
    ...(lastFour !== undefined && { lastFour }),
  }
}
