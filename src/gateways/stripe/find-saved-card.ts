import { seconds } from '../../kernel/duration.ts'
import { within } from '../../kernel/within.ts'
import type { PaymentMethodOutcome, PaymentOutcome } from '../../payments/outcome.ts'
import type { LookUps, StripeApi } from './api.ts'
import { savesItsCard } from './find-saving-payment.ts'
import { attached, expandedMethod, methodDetails } from './read-payment-method.ts'
import { isId, type Snapshot } from './payload.ts'

/** Less than an interpretation may take: a paid outcome does not wait for a card for ever. */
const cardLimit = seconds(8)

/**
 * The card that a paid checkout has saved, if any. A failure here costs the card and never the
 * payment: `payment_method.attached` reports the same card.
 */
export async function findSavedCard(
  snapshot: Snapshot,
  { payment, providerReference }: PaymentOutcome,
  { api, log }: LookUps,
): Promise<readonly PaymentMethodOutcome[]> {
  if (api === undefined || !isId(providerReference, 'pi_')) return []
  const late = () => new Error(`the look-up took over ${cardLimit / 1000} s`)
  try {
    const intent = await within(cardLimit, late, () => intentWithMethod(api, providerReference))
    const found = expandedMethod(intent?.get('payment_method'))
    if (intent === undefined || found === undefined) return []
    if (!savesItsCard(intent)) return []
    const customer = found.method.get('customer') ?? intent.get('customer')
    return [
      attached(snapshot, { ...found, details: methodDetails(found.method), customer, payment }),
    ]
  } catch (error) {
    log.warn({ err: error, event: snapshot.id }, 'the payment counts, its saved card is not known')
    return []
  }
}

function intentWithMethod(api: StripeApi, id: string) {
  return api.get(`v1/payment_intents/${id}`, { 'expand[]': 'payment_method' })
}
