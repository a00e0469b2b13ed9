import { sql, type Kysely, type Selectable } from 'kysely'
import { findDispute } from '../database/disputes.ts'
import { named } from '../database/named-statements.ts'
import { findPaymentMethod } from '../database/payment-methods.ts'
import { findPayments } from '../database/payments.ts'
import type { EventsTable, Tables } from '../database/tables.ts'
import type { BillingEvent } from '../events/catalogue.ts'
import { disputeIdIn } from '../events/dedup-key.ts'
import type { Payment } from '../payments/payment.ts'

type EventRow = Pick<
  Selectable<EventsTable>,
  | 'id'
  | 'dedup_key'
  | 'type'
  | 'payment_id'
  | 'payment_method_id'
  | 'superseded'
  | 'data'
  | 'created_at'
>

/** Events as their queued listeners get them, in the order of the ids; undefined: it is gone. */
export async function loadEvents(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<readonly (BillingEvent | undefined)[]> {
  const { rows } = await sql<EventRow>`${named('load-events')}
    select id, dedup_key, type, payment_id, payment_method_id, superseded, data, created_at
    from billing.events where id = any(${[...ids]}::uuid[])`.execute(db)
  const paymentIds = rows.flatMap(({ payment_id: id }) => id ?? [])
  const payments = await findPayments(db, [...new Set(paymentIds)])
  const events = new Map<string, BillingEvent>()
  for (const row of rows) events.set(row.id, await toEvent(db, row, payments))
  return ids.map((id) => events.get(id))
}

async function toEvent(
  db: Kysely<Tables>,
  row: EventRow,
  payments: ReadonlyMap<string, Payment>,
): Promise<BillingEvent> {
  const { id, type, dedup_key: dedupKey, superseded, created_at: createdAt } = row
  const data = JSON.parse(row.data) as Readonly<Record<string, unknown>>
  const subject = await loadSubject(db, row, payments)
  return {
    ...data,
    id,
    type,
    dedupKey,
    superseded,
    createdAt,
    ...subject,
  } as unknown as BillingEvent
}

/** As it is now: a queued listener runs later. */
async function loadSubject(
  db: Kysely<Tables>,
  { payment_id: paymentId, payment_method_id: methodId, dedup_key: key }: EventRow,
  payments: ReadonlyMap<string, Payment>,
) {
  if (methodId !== null) return { paymentMethod: await findPaymentMethod(db, methodId) }
  // Stryker disable next-line ConditionalExpression: no payment is known by no id
  const payment = paymentId === null ? undefined : payments.get(paymentId)
  const disputeId = disputeIdIn(key)
  return disputeId === undefined
    ? { payment }
    : { payment, dispute: await findDispute(db, disputeId) }
}
