import { sql } from 'kysely'
import type { Database } from '../database/connect.ts'
import {
  markInvoicesOfPeriods,
  markInvoicesPaid,
  type InvoiceOrigin,
} from '../database/invoices.ts'
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
export async function settleInvoices(
  database: Database,
  options: { readonly newId: NewId; readonly queue: string; readonly signal?: AbortSignal },
): Promise<number> {
  const { newId, queue, signal } = options
  const origin = { newId, cause: 'service', callId: null, queue } as const
  let settled = 0
  let after: string | undefined
  for (;;) {
    const owed = await readOwed(database, after)
    settled += await settlePaid(database, owed, origin)
    settled += await settlePeriods(database, owed, origin)
    after = owed.at(-1)?.id
    if (owed.length < atOnce || signal?.aborted === true) return settled
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
async function settlePaid(
  database: Database,
  owed: readonly OwedInvoice[],
  origin: InvoiceOrigin,
): Promise<number> {
  const byPayment = new Map(owed.flatMap(({ id, payment_id: of }) => (of ? [[of, id]] : [])))
  const statuses = await readStatuses(database.db, [...byPayment.keys()])
  let settled = 0
  for (const [paymentId, id] of byPayment) {
    if (statuses.get(paymentId) !== 'paid') continue
    settled += await database.transaction(async ({ db }) => {
      await lockPayments(db, [paymentId])
      return markInvoicesPaid(db, [id], origin)
    })
  }
  return settled
}

async function settlePeriods(
  database: Database,
  owed: readonly OwedInvoice[],
  origin: InvoiceOrigin,
): Promise<number> {
  const ids = owed.flatMap(({ period_id: id }) => id ?? [])
  const periods = [...(await findPeriods(database.db, ids)).values()]
  const closed = periods.filter(({ state }) => state === 'paid' || state === 'void')
  let settled = 0
  for (const period of closed) {
    settled += await database.transaction(async ({ db }) => {
      await sql`select id from billing.subscriptions where id = ${period.subscriptionId}::uuid
        for no key update`.execute(db)
      return markInvoicesOfPeriods(db, [period], { now: new Date(), origin })
    })
  }
  return settled
}
