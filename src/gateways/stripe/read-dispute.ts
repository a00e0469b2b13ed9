import type { DisputeStatus } from '../../payments/dispute.ts'
import { ignored, type Outcome } from '../../payments/outcome.ts'
import type { JsonValue } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { LookUps } from './api.ts'
import { moneyOf, shownField } from './fields.ts'
import { findPayment } from './find-payment.ts'
import { accountStatement, readObject, type StripeEvent } from './payload.ts'

const statuses: ReadonlyMap<JsonValue | undefined, DisputeStatus> = new Map([
  ['warning_needs_response', 'open'],
  ['warning_under_review', 'open'],
  ['needs_response', 'open'],
  ['under_review', 'open'],
  ['appeal_needs_response', 'open'],
  ['appeal_under_review', 'open'],
  ['won', 'won'],
  // The bank inquired, and no chargeback followed.
  ['warning_closed', 'won'],
  ['lost', 'lost'],
  // Resolved before it became a chargeback, by refunding the money.
  ['prevented', 'lost'],
] as const)

/** https://docs.stripe.com/api/disputes/object */
export async function readDispute(
  event: StripeEvent,
  lookUps: LookUps,
): Promise<readonly Outcome[]> {
  const read = readObject(event, 'dispute', 'du_', 'dp_')
  if ('malformed' in read) return [ignored('malformed_payload', read.malformed)]
  const { object: dispute, id: reference } = read
  const status = statuses.get(dispute.get('status'))
  const found = await findPayment(dispute, lookUps)
  if (!found.ok) return [found.outcome]
  if (status === undefined) {
    const about = { money: true, payment: found.payment }
    return [ignored('no_outcome', detail(`dispute ${shownField(dispute, 'status')}`), about)]
  }
  return [
    {
      type: 'dispute',
      payment: found.payment,
      reference,
      status,
      ...(dispute.get('status') === 'prevented' && { byRefund: true }),
      ...moneyOf(dispute, 'amount'),
      ...accountStatement(event),
    },
  ]
}
