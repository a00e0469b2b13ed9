import { days } from '../../kernel/duration.ts'
import { isQuittanceError } from '../../kernel/errors.ts'
import type { PaymentReference } from '../../payments/outcome.ts'
import type { JsonObject } from '../body/json.ts'
import type { LookUps, StripeApi } from './api.ts'
import { customerOf, timeIn } from './fields.ts'
import type { Snapshot } from './payload.ts'
import { statedReference } from './reference.ts'

/**
 * The payment that an attached card was saved with. The card never names it: the intent or the setup
 * that saved the card does. Undefined: it was saved with none of ours, or Stripe does not tell this
 * key. An outage is retried: the event of the card says its payment, or that there is none, once.
 */
export async function findSavingPayment(
  { id: event }: Snapshot,
  card: { readonly id: string; readonly method: JsonObject },
  { api, log }: LookUps,
): Promise<PaymentReference | undefined> {
  const customer = customerOf(card.method.get('customer'))
  if (api === undefined || customer === undefined) return undefined
  try {
    const saving = (await findIntent(card, customer, api)) ?? (await findSetup(card.id, api))
    const reference = saving && statedReference(saving)
    // What names no payment of ours was made by somebody else.
    return reference?.ok === true ? { id: reference.paymentId } : undefined
  } catch (error) {
    if (!isQuittanceError(error) || error.code !== 'provider_refused') throw error
    log.warn({ err: error, event }, 'the card is saved, its payment is not known')
    return undefined
  }
}

/** An intent waits for its payer, and for a bank's debit, before its card is attached. */
const longestWait = days(90)

/** The first of the customer's intents with this card: the card was new then. */
async function findIntent(
  { id, method }: { readonly id: string; readonly method: JsonObject },
  customer: string,
  api: StripeApi,
): Promise<JsonObject | undefined> {
  const made = timeIn(method.get('created'))
  const from = made && Math.floor((made.getTime() - longestWait) / 1000).toString()
  const intents = await api.list('v1/payment_intents', {
    customer,
    ...(from !== undefined && { 'created[gte]': from }),
  })
  return intents.findLast((intent) => intent.get('payment_method') === id && savesItsCard(intent))
}

const futureUsages: ReadonlySet<unknown> = new Set(['off_session', 'on_session'])

/** Whether the card of a payment intent is kept. */
export function savesItsCard(intent: JsonObject): boolean {
  return futureUsages.has(intent.get('setup_future_usage'))
}

/** https://docs.stripe.com/api/setup_intents/list */
async function findSetup(id: string, api: StripeApi): Promise<JsonObject | undefined> {
  const setups = await api.list('v1/setup_intents', { payment_method: id })
  return setups.findLast((setup) => setup.get('payment_method') === id)
}
