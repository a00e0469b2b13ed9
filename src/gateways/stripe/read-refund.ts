import { readUuid } from '../../kernel/uuid.ts'
import { ignored, type Outcome, type SingleRefundOutcome } from '../../payments/outcome.ts'
import { path, type JsonObject, type JsonValue } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { LookUps } from './api.ts'
import { moneyOf, shownField } from './fields.ts'
import {
  findPayment,
  findPaymentOfCharge,
  statedPayment,
  type FoundPayment,
} from './find-payment.ts'
import { intentSucceeded } from './read-intent.ts'
import { accountStatement, isId, readObject, type Snapshot, type StripeEvent } from './payload.ts'

/** Refunds of bank debits have ids of their own kind. */
const refundPrefixes = ['re_', 'pyr_'] as const

/** https://docs.stripe.com/api/refunds/object */
export async function readRefund(
  event: StripeEvent,
  lookUps: LookUps,
): Promise<readonly Outcome[]> {
  const read = readObject(event, 'refund', ...refundPrefixes)
  if ('malformed' in read) return [ignored('malformed_payload', read.malformed)]
  const { object: refund } = read
  const found = await findPayment(refund, lookUps)
  return [...takenBefore(event, found), refundOutcome(event, refund, found)]
}

/** Refunded money had been taken, but the event that reported it may be lost or late. */
function takenBefore(event: StripeEvent, found: FoundPayment): readonly Outcome[] {
  const { intent } = found.ok ? found : {}
  if (intent?.get('status') !== 'succeeded') return []
  return [intentSucceeded({ ...event, object: intent })]
}

/** It states the sum of all refunds but no single refund, so they are looked up. */
export async function chargeRefunded(
  event: StripeEvent,
  { api, noKey }: LookUps,
): Promise<readonly Outcome[]> {
  const read = readObject(event, 'charge', 'ch_', 'py_')
  if ('malformed' in read) return [ignored('malformed_payload', read.malformed)]
  const { object: charge, id } = read
  if (api === undefined) return [ignored('no_outcome', `reported by refund events: ${noKey}`)]
  const refunds = await api.list('v1/refunds', { charge: id })
  if (refunds.length === 0) return [ignored('no_outcome', `no refunds of ${id}`)]
  const stated = refunds.map(statedPayment)
  const ofCharge = stated.includes(undefined)
    ? await findPaymentOfCharge(charge, api)
    : nothingFound
  const outcomes = refunds.map((refund, index) =>
    refund.get('charge') === id
      ? refundOutcome(event, refund, stated[index] ?? ofCharge)
      : ignored('malformed_payload', 'refund.charge'),
  )
  return [...takenBefore(event, ofCharge), ...outcomes]
}

const nothingFound: FoundPayment = { ok: false, outcome: ignored('no_outcome') }

const statuses: ReadonlyMap<JsonValue | undefined, SingleRefundOutcome['status']> = new Map([
  ['pending', 'pending'],
  ['requires_action', 'pending'],
  ['succeeded', 'paid'],
  ['failed', 'failed'],
  ['canceled', 'canceled'],
] as const)

/** What a refund states of the payment that it was found to belong to. */
export function refundOutcome(
  snapshot: Snapshot,
  refund: JsonObject,
  found: FoundPayment,
): Outcome {
  const refundReference = refund.get('id')
  if (!isId(refundReference, ...refundPrefixes)) return ignored('malformed_payload', 'refund.id')
  const status = statuses.get(refund.get('status'))
  if (!found.ok) {
    const { outcome } = found
    // Only if money has gone back, or may have.
    return status === 'paid' || status === undefined ? outcome : { ...outcome, money: false }
  }
  if (status === undefined) {
    const about = { money: true, payment: found.payment }
    return ignored('no_outcome', detail(`refund ${shownField(refund, 'status')}`), about)
  }
  const refundId = readUuid(path(refund, 'metadata', 'refund_id'))
  const charged = found.intent?.get('id')
  return {
    type: 'refund',
    payment: found.payment,
    status,
    refundReference,
    ...(isId(charged, 'pi_') && { providerReference: charged }),
    ...moneyOf(refund, 'amount'),
    ...accountStatement(snapshot),
    ...(refundId !== undefined && { refundId }),
  }
}
