import { secret } from '../../kernel/secret.ts'
import type { PaymentMethodOutcome } from '../../payments/outcome.ts'
import type { PaymentMethodDetails } from '../../payments/payment-method.ts'
import { isMaskedToken, tokenReference } from '../signing/token-reference.ts'
import { maskedCard } from './grammar.ts'
import type { Order } from './read-order.ts'

const tokenGrammar = /^[\x21-\x7e]{8,255}$/
const brandGrammar = /^[A-Za-z][A-Za-z ]{0,30}$/

/** The card that was saved with an order, if any: the token (`rectoken`) charges it again. */
export function readSavedCard(
  { card }: Order,
  bound: Pick<PaymentMethodOutcome, 'payment' | 'merchantAccount' | 'live'>,
): readonly PaymentMethodOutcome[] {
  const { token } = card
  if (token === undefined || !tokenGrammar.test(token)) return []
  return [
    {
      type: 'payment_method',
      status: 'attached',
      reference: tokenReference(token),
      details: detailsOf(card),
      ...bound,
      ...(!isMaskedToken(token) && { token: secret(token) }),
    },
  ]
}

function detailsOf({ masked = '', brand = '' }: Order['card']): PaymentMethodDetails {
  const lastFour = maskedCard.exec(masked)?.[1]
  return {
    kind: 'card',
    ...(brandGrammar.test(brand) && { brand: brand.toLowerCase() }),
    ...(lastFour !== undefined && { lastFour }),
  }
}
