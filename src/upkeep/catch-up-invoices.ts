import { sql } from 'kysely'
import type { Database } from '../database/connect.ts'
import {
  markInvoicesOfPeriods,
  markInvoicesPaid,
  type InvoiceOrigin,
} from '../database/invoices.ts'
import { databaseNow } from '../database/now.ts'
import { lockPayments, readStatuses } from '../database/payments.ts'
import { findPeriods } from '../database/subscription-periods.ts'
import type { NewId } from '../kernel/ids.ts'

/** How many are looked at together. */
const atOnce = 500

interface OwedInvoice {
  readonly id: string
  readonly payment_id: string | null
  readonly period_id: string | null
}

/**
 * Marks documents that a process left owed which knows of none: an older version beside this one has
 * moved the payment, or granted or given up the period. Returns how many.
 */
export async function catchUpInvoices(
  database: Database,
  options: { readonly newId: NewId; readonly queue: string; readonly signal?: AbortSignal },
): Promise<number> {
  const { newId, queue, signal } = options
  const origin = { newId, cause: 'service', callId: null, queue } as const
  let marked = 0
  let after: string | undefined
  for (;;) {
    const owed = await readOwed(database, after)
    marked += await markPaid(database, owed, origin)
    marked += await markPeriods(database, owed, origin)
    after = owed.at(-1)?.id
    if (owed.length < atOnce || signal?.aborted === true) return marked
  }
}

async function readOwed(
  { db }: Database,
  after: string | undefined,
): Promise<readonly OwedInvoice[]> {
  const { rows } = await sql<OwedInvoice>`
    select id, payment_id, period_id from billing.invoices
    where status = 'issued' and issuer = 'us'
      and (${after ?? null}::uuid is null or id > ${after ?? null}::uuid)
    order by id limit ${atOnce}`.execute(db)
  return rows
}

/** Under the lock of the payment: whoever moves it marks its document. */
async function markPaid(
  database: Database,
  owed: readonly OwedInvoice[],
  origin: InvoiceOrigin,
): Promise<number> {
  const byPayment = new Map(owed.flatMap(({ id, payment_id: of }) => (of ? [[of, id]] : [])))
  const statuses = await readStatuses(database.db, [...byPayment.keys()])
  let marked = 0
  for (const [paymentId, id] of byPayment) {
    if (statuses.get(paymentId) !== 'paid') continue
    marked += await database.transaction(async ({ db }) => {
      await lockPayments(db, [paymentId])
      return markInvoicesPaid(db, [id], origin)
    })
  }
  return marked
}

async function markPeriods(
  database: Database,
  owed: readonly OwedInvoice[],
  origin: InvoiceOrigin,
): Promise<number> {
  const ids = owed.flatMap(({ period_id: id }) => id ?? [])
  const periods = [...(await findPeriods(database.db, ids)).values()]
  const closed = periods.filter(({ state }) => state === 'paid' || state === 'void')
  let marked = 0
  for (const period of closed) {
    marked += await database.transaction(async ({ db }) => {
      await sql`select id from billing.subscriptions where id = ${period.subscriptionId}::uuid
        for no key update`.execute(db)
      return markInvoicesOfPeriods(db, [period], { now: await databaseNow(db), origin })
    })
  }
  return marked
}
