import { seconds } from '../../kernel/duration.ts'
import { within } from '../../kernel/within.ts'
import {
  ignored,
  type AboutMoney,
  type Outcome,
  type PaymentMethodOutcome,
  type PaymentOutcome,
  type SubscriptionOutcome,
} from '../../payments/outcome.ts'
import type { JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { LookUps, StripeApi } from './api.ts'
import { moneyOf, shownField, type StatedMoney } from './fields.ts'
import { savesItsCard } from './find-saving-payment.ts'
import { malformed } from './malformed.ts'
import { toOutcome, undecided, type Meaning } from './meaning.ts'
import { isId, readObject, subscriptionOf, type Snapshot } from './payload.ts'
import { periodOf } from './read-lines.ts'
import { attached, expandedMethod, methodDetails } from './read-payment-method.ts'
import { setupSession } from './read-setup-intent.ts'
import { subscriptionNotice } from './read-subscription.ts'
import { namedReference } from './reference.ts'

export function sessionCompleted(
  snapshot: Snapshot,
  lookUps: LookUps,
): Promise<readonly Outcome[]> {
  const isSetup = isSession(snapshot, 'setup')
  return isSetup ? setupSession(snapshot, lookUps) : onSession(snapshot, completed, lookUps)
}

export function sessionPaid(snapshot: Snapshot, lookUps: LookUps): Promise<readonly Outcome[]> {
  return onSession(snapshot, asyncPaymentSucceeded, lookUps)
}

export function sessionFailed(snapshot: Snapshot): Outcome {
  return sessionOutcome(snapshot, () => 'failed')
}

export function sessionExpired(snapshot: Snapshot): Outcome {
  return sessionOutcome(snapshot, expired)
}

function isSession(snapshot: Snapshot, mode: string): boolean {
  const read = readObject(snapshot, 'checkout.session', 'cs_')
  return 'object' in read && read.object.get('mode') === mode
}

/** A paid checkout has bought a period or saved the card, which only its invoice or intent shows. */
async function onSession(
  snapshot: Snapshot,
  meaningOf: (session: JsonObject) => Meaning,
  lookUps: LookUps,
): Promise<readonly Outcome[]> {
  const outcome = sessionOutcome(snapshot, meaningOf)
  if (outcome.type !== 'payment' || outcome.status !== 'paid') return [outcome]
  const [period, cards] = await Promise.all([
    findFirstPeriod(snapshot, outcome, lookUps),
    findSavedCard(snapshot, outcome, lookUps),
  ])
  const { happenedAt: chargedAt } = snapshot
  const isUndated = outcome.subscriptionReference !== undefined && period.period === undefined
  const time = isUndated && chargedAt !== undefined ? { chargedAt } : period
  return [{ ...outcome, ...time }, ...cards]
}

/** Less than an interpretation may take: a payment waits no longer for its period or its card. */
const lookUpLimit = seconds(8)
const late = () => new Error(`the look-up took over ${lookUpLimit / 1000} s`)

/**
 * The time that the checkout of a subscription has paid for. Only its invoice says it, and the event
 * may come when that time is over. A failure here never costs the payment: its period then begins
 * when it becomes known.
 */
async function findFirstPeriod(
  snapshot: Snapshot,
  { amount, providerReference }: PaymentOutcome,
  { api, log }: LookUps,
): Promise<Pick<PaymentOutcome, 'period'>> {
  // A trial is stated by its subscription.
  if (api === undefined || amount === 0n || !isId(providerReference, 'in_')) return {}
  try {
    const invoice = await within(lookUpLimit, late, () =>
      api.get(`v1/invoices/${providerReference}`),
    )
    const period = invoice && periodOf(invoice)
    return period === undefined ? {} : { period }
  } catch (error) {
    log.warn({ err: error, event: snapshot.id }, 'the payment counts, its period is not known')
    return {}
  }
}

/**
 * The card that a paid checkout has saved, if any. A failure here costs the card and never the
 * payment: `payment_method.attached` reports the same card.
 */
async function findSavedCard(
  snapshot: Snapshot,
  { payment, providerReference }: PaymentOutcome,
  { api, log }: LookUps,
): Promise<readonly PaymentMethodOutcome[]> {
  if (api === undefined || !isId(providerReference, 'pi_')) return []
  try {
    const intent = await within(lookUpLimit, late, () => intentWithMethod(api, providerReference))
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

/** The subscription that a checkout has begun, so that it is asked about, in a trial too. */
export function begunSubscription(
  snapshot: Snapshot,
  lookUps: LookUps,
): readonly SubscriptionOutcome[] {
  const read = readObject(snapshot, 'checkout.session', 'cs_')
  if ('malformed' in read) return []
  return subscriptionNotice(snapshot, read.object.get('subscription'), lookUps)
}

const paymentStatuses: ReadonlySet<unknown> = new Set(['paid', 'unpaid', 'no_payment_required'])

/** What `meaningOf` reads in a session. https://docs.stripe.com/api/checkout/sessions/object */
export function sessionOutcome(
  snapshot: Snapshot,
  meaningOf: (session: JsonObject) => Meaning,
): Outcome {
  const read = readObject(snapshot, 'checkout.session', 'cs_')
  if ('malformed' in read) return malformed(snapshot, read.malformed)
  const { object: session, id: checkoutReference } = read
  const charge = chargeFields.get(session.get('mode'))
  if (charge === undefined) {
    const text = detail(`${snapshot.type}, ${shownField(session, 'mode')}`)
    return ignored('unhandled_event', text, paidFor(session))
  }
  const reference = chargeOf(session, charge)
  if ('malformed' in reference) return malformed(snapshot, reference.malformed)
  const meaning = paymentStatuses.has(session.get('payment_status'))
    ? meaningOf(session)
    : undecided(session, 'payment_status', { money: true })
  return toOutcome(snapshot, session, {
    meaning,
    money: sessionMoney(session),
    references: { checkoutReference, ...reference, ...subscriptionOf(session.get('subscription')) },
  })
}

/** Money that was paid in a way that we do not know: ours, if the session names a payment. */
function paidFor(session: JsonObject): AboutMoney {
  const reference = namedReference(session)
  if (session.get('payment_status') !== 'paid' || reference?.ok !== true) return {}
  return { money: true, payment: { id: reference.paymentId } }
}

interface ChargeField {
  readonly field: string
  readonly idPrefix: string
}

/** A subscription is paid by invoices, each with one intent or several. */
const chargeFields: ReadonlyMap<unknown, ChargeField> = new Map<unknown, ChargeField>([
  ['payment', { field: 'payment_intent', idPrefix: 'pi_' }],
  ['subscription', { field: 'invoice', idPrefix: 'in_' }],
])

function chargeOf(
  session: JsonObject,
  { field, idPrefix }: ChargeField,
): Pick<PaymentOutcome, 'providerReference'> | { readonly malformed: string } {
  const id = session.get(field) ?? undefined
  if (id === undefined) return {}
  return isId(id, idPrefix) ? { providerReference: id } : { malformed: `data.object.${field}` }
}

/** Unpaid means a slow method: an async_payment event brings the money, or its failure. */
function completed(session: JsonObject): Meaning {
  return session.get('payment_status') === 'unpaid' ? undecided(session, 'payment_status') : 'paid'
}

function asyncPaymentSucceeded(session: JsonObject): Meaning {
  return session.get('payment_status') === 'paid'
    ? 'paid'
    : undecided(session, 'payment_status', { money: true })
}

function expired(session: JsonObject): Meaning {
  if (session.get('payment_status') === 'paid') {
    return undecided(session, 'payment_status', { money: true })
  }
  return session.get('status') === 'expired' ? 'canceled' : undecided(session, 'status')
}

/** If nothing had to be paid, exactly 0 was paid: that settles only a payment of 0. */
function sessionMoney(session: JsonObject): StatedMoney {
  const { amount, ...currency } = moneyOf(session, 'amount_total')
  const nothingPaid = session.get('payment_status') === 'no_payment_required'
  if (amount === undefined || (nothingPaid && amount !== 0n)) return currency
  return { amount, ...currency }
}
