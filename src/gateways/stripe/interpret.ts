import { parseMinorUnits } from '../../kernel/money.ts'
import { ignored, type Outcome, type PaymentOutcome } from '../../payments/outcome.ts'
import { numberTextOf, textOf, type JsonObject } from '../body/json.ts'
import type { Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'
import { currencyOf, isId, readEvent, readObject, type StripeEvent } from './payload.ts'
import { readReference } from './reference.ts'

/** What a Stripe event states about one of our payments. Calls nobody; never throws. */
export function interpretStripe(payload: Payload): Outcome {
  const read = readEvent(payload)
  if (!read.ok) return read.outcome
  const { event } = read
  const handler = handlers.get(event.type)
  return handler === undefined ? ignored('unhandled_event', detail(event.type)) : handler(event)
}

type Handler = (event: StripeEvent) => Outcome

// A Map: an event type is the sender's text and must not reach a prototype.
const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['checkout.session.completed', (event) => onSession(event, sessionCompleted)],
  ['checkout.session.async_payment_succeeded', (event) => onSession(event, asyncPaymentSucceeded)],
  ['checkout.session.async_payment_failed', (event) => onSession(event, () => 'failed')],
  ['checkout.session.expired', (event) => onSession(event, sessionExpired)],
  ['payment_intent.succeeded', (event) => onIntent(event, intentSucceeded)],
  ['payment_intent.payment_failed', (event) => onIntent(event, () => 'failed')],
  ['payment_intent.canceled', (event) => onIntent(event, intentCanceled)],
  ['payment_intent.processing', ({ type }) => ignored('no_outcome', type)],
  ['payment_intent.requires_action', ({ type }) => ignored('no_outcome', type)],
])

/** The status that an object means; `undecided` says which field leaves it open. */
type Meaning = PaymentOutcome['status'] | { readonly undecided: string }

const paymentStatuses: ReadonlySet<unknown> = new Set(['paid', 'unpaid', 'no_payment_required'])

/** https://docs.stripe.com/api/checkout/sessions/object */
function onSession(event: StripeEvent, meaningOf: (session: JsonObject) => Meaning): Outcome {
  const read = readObject(event, 'checkout.session', 'cs_')
  if ('malformed' in read) return ignored('malformed_payload', read.malformed)
  const { object: session, id: checkoutReference } = read
  if (session.get('mode') !== 'payment') {
    return ignored('unhandled_event', detail(`${event.type}, ${shownField(session, 'mode')}`))
  }
  const intent = session.get('payment_intent') ?? undefined
  if (intent !== undefined && !isId(intent, 'pi_')) {
    return ignored('malformed_payload', 'data.object.payment_intent')
  }
  const meaning = paymentStatuses.has(session.get('payment_status'))
    ? meaningOf(session)
    : undecided(session, 'payment_status')
  return toOutcome(event, session, {
    meaning,
    amount: sessionAmount(session),
    references: { checkoutReference, ...(intent !== undefined && { providerReference: intent }) },
  })
}

/** Unpaid means a slow method: the money, or its failure, comes with an async_payment event. */
function sessionCompleted(session: JsonObject): Meaning {
  return session.get('payment_status') === 'unpaid' ? undecided(session, 'payment_status') : 'paid'
}

function asyncPaymentSucceeded(session: JsonObject): Meaning {
  return session.get('payment_status') === 'paid' ? 'paid' : undecided(session, 'payment_status')
}

function sessionExpired(session: JsonObject): Meaning {
  return session.get('status') === 'expired' ? 'canceled' : undecided(session, 'status')
}

/** Where nothing had to be paid, nothing but 0 was: it settles only a payment of 0. */
function sessionAmount(session: JsonObject): bigint | undefined {
  const amount = amountOf(session, 'amount_total')
  const nothingPaid = session.get('payment_status') === 'no_payment_required'
  return nothingPaid && amount !== 0n ? undefined : amount
}

/** https://docs.stripe.com/api/payment_intents/object */
function onIntent(event: StripeEvent, meaningOf: (intent: JsonObject) => Meaning): Outcome {
  const read = readObject(event, 'payment_intent', 'pi_')
  if ('malformed' in read) return ignored('malformed_payload', read.malformed)
  const { object: intent, id: providerReference } = read
  const meaning = meaningOf(intent)
  const amount = amountOf(intent, meaning === 'paid' ? 'amount_received' : 'amount')
  return toOutcome(event, intent, { meaning, amount, references: { providerReference } })
}

function intentSucceeded(intent: JsonObject): Meaning {
  return intent.get('status') === 'succeeded' ? 'paid' : undecided(intent, 'status')
}

function intentCanceled(intent: JsonObject): Meaning {
  return intent.get('status') === 'canceled' ? 'canceled' : undecided(intent, 'status')
}

interface Finding {
  readonly meaning: Meaning
  readonly amount: bigint | undefined
  readonly references: Pick<PaymentOutcome, 'checkoutReference' | 'providerReference'>
}

function toOutcome(event: StripeEvent, object: JsonObject, finding: Finding): Outcome {
  const { meaning, amount, references } = finding
  const reference = readReference(object)
  if (!reference.ok) return reference.outcome
  if (typeof meaning !== 'string') return ignored('no_outcome', detail(meaning.undecided))
  const currency = currencyOf(object)
  return {
    type: 'payment',
    payment: { id: reference.paymentId },
    status: meaning,
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
    ...(event.account !== undefined && { merchantAccount: event.account }),
    ...(event.live !== undefined && { live: event.live }),
    ...references,
  }
}

/** From the number's source text: `4999.0`, `4.999e3` and `-1` are no amount and settle nothing. */
function amountOf(object: JsonObject, field: string): bigint | undefined {
  const text = numberTextOf(object.get(field))
  return text === undefined ? undefined : parseMinorUnits(text)
}

function undecided(object: JsonObject, field: string): Meaning {
  return { undecided: shownField(object, field) }
}

function shownField(object: JsonObject, field: string): string {
  return `${field} ${textOf(object.get(field)) ?? 'missing'}`
}
