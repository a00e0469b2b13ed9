import type { Kysely } from 'kysely'
import { findDisputes } from '../database/disputes.ts'
import { pageLimit, readCursor, toPage, type Page, type PageQuery } from '../database/page.ts'
import { findPayments } from '../database/payments.ts'
import { readStuck, type StuckKind } from '../database/stuck-payments.ts'
import type { Tables } from '../database/tables.ts'
import type { Dispute } from '../payments/dispute.ts'
import type { Payment } from '../payments/payment.ts'

/** Which stuck payments to list. */
export interface StuckQuery extends PageQuery {
  readonly stuck: StuckKind
}

/** A payment that is stuck: a charge, or a refund. */
export interface StuckPayment {
  readonly payment: Payment
  /** Of `dispute_open`. */
  readonly dispute: Dispute | null
  /** When it was made; of an overdue poll, when it was due; of a dispute, when it was opened. */
  readonly since: Date
}

/** Those that have been stuck for longest come first. `gateways`: those that are known here. */
export async function listStuck(
  db: Kysely<Tables>,
  query: StuckQuery,
  gateways: readonly string[],
): Promise<Page<StuckPayment>> {
  const { stuck } = query
  const limit = pageLimit(query)
  const after = readCursor(query.cursor)
  const rows = await readStuck(db, { stuck, gateways }, { after, limit: limit + 1 })
  const page = toPage(rows, query, (row) => row)
  const ids = page.data.map(({ id }) => id)
  const disputes =
    stuck === 'dispute_open' ? await findDisputes(db, ids) : new Map<string, Dispute>()
  const paymentIdOf = (id: string) => disputes.get(id)?.paymentId ?? id
  const payments = await findPayments(db, [...new Set(ids.map(paymentIdOf))])
  const data = page.data.flatMap(({ id, at: since }) => {
    const payment = payments.get(paymentIdOf(id))
    const dispute = disputes.get(id) ?? null
    return payment === undefined ? [] : [{ payment, dispute, since }]
  })
  return { ...page, data }
}
