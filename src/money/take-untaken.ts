import { sql } from 'kysely'
import { hasUntakenPayment, isUntaken, takeUntaken } from '../outcomes/grant-periods.ts'
import type { MoneyContext } from './context.ts'

/**
 * Lets a period take note of its payments that were decided without it. False: one of them may still
 * be charged by its provider, so it is too early.
 */
export async function takeUntakenOf(periodId: string, context: MoneyContext): Promise<boolean> {
  const { db } = context.processing.database
  const { rows } = await sql<{ id: string }>`
    select id from billing.payments where period_id = ${periodId}::uuid and ${isUntaken}`.execute(
    db,
  )
  await takePayments(
    rows.map(({ id }) => id),
    context,
  )
  return !(await hasUntakenPayment(db, periodId))
}

/** How many are looked for at a time. */
const atOnce = 100

/**
 * Lets periods take note of all payments that a process has moved that knows of no periods: an
 * older version beside this one. One look into an index that is empty otherwise. Returns how many.
 */
export async function takeAllUntaken(context: MoneyContext): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select id from billing.payments where ${isUntaken} order by id limit ${atOnce}`.execute(
    context.processing.database.db,
  )
  for (const { id } of rows) await takePayments([id], context)
  return rows.length
}

async function takePayments(ids: readonly string[], context: MoneyContext): Promise<void> {
  if (ids.length === 0) return
  const { processing, queue } = context
  const { newId } = processing
  const writing = { newId, cause: 'service', callId: null, queue } as const
  await processing.database.transaction(({ db }) =>
    takeUntaken(db, ids, { ...processing, writing }),
  )
  processing.wake('subscription_events')
}
