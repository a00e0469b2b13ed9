import {
  ignored,
  type AboutMoney,
  type Outcome,
  type PaymentOutcome,
  type SubscriptionOutcome,
} from '../../payments/outcome.ts'
import type { JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { LookUps } from './api.ts'
import { moneyOf, shownField, type StatedMoney } from './fields.ts'
import { malformed } from './malformed.ts'
import { toOutcome, undecided, type Meaning } from './meaning.ts'
import { isId, readObject, subscriptionOf, type Snapshot } from './payload.ts'
import { namedReference } from './reference.ts'
import { bell } from './read-subscription.ts'
import { findFirstPeriod } from './find-first-period.ts'
import { findSavedCard } from './find-saved-card.ts'
import { setupSession } from './read-setup-intent.ts'

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

/** The subscription that a checkout has begun, so that it is asked about, in a trial too. */
export function begunSubscription(
  snapshot: Snapshot,
  lookUps: LookUps,
): readonly SubscriptionOutcome[] {
  const read = readObject(snapshot, 'checkout.session', 'cs_')
  if ('malformed' in read) return []
  return bell(snapshot, read.object.get('subscription'), lookUps)
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
