import { sql, type Kysely } from 'kysely'
import { claimsOf, findCall } from '../database/calls.ts'
import type { Tables } from '../database/tables.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { readUuid } from '../kernel/uuid.ts'
import { requeued } from '../outcomes/waiting-calls.ts'
import { asNew } from '../leases/queue-rows.ts'

/**
 * Puts an ended call back into the queue: the same code runs again, and its claims still hold. Its
 * events' deliveries that had failed for good are retried as well.
 */
export async function replayCall(db: Kysely<Tables>, given: string): Promise<void> {
  const id = readUuid(given)
  if (id === undefined) throw notFound(given)
  const begun = db.transaction().setIsolationLevel('read committed')
  if (await begun.execute((transaction) => replay(transaction, id))) return
  const call = await findCall(db, id)
  if (call === undefined) throw notFound(id)
  throw new QuittanceError('call_in_progress', `call ${id} is ${call.state}`)
}

/** False if there is no such call that has ended. */
async function replay(db: Kysely<Tables>, id: string): Promise<boolean> {
  const { rows } = await sql<{ dedup_claims: string }>`
    update billing.webhook_calls set ${requeued}
    where id = ${id}::uuid and state in ('processed', 'ignored', 'failed')
    returning dedup_claims`.execute(db)
  await retryDeliveries(db, rows.flatMap(claimsOf))
  if (rows.length === 1) await retryDeferred(db, id)
  return rows.length === 1
}

async function retryDeliveries(db: Kysely<Tables>, claims: readonly string[]): Promise<void> {
  await sql`
    update billing.deliveries set ${asNew}
    where state = 'failed' and event_id in (
      select id from billing.events where dedup_key = any(${[...claims]}::text[]))`.execute(db)
}

/** What came of it and was never dispatched is not brought up by the call again. */
async function retryDeferred(db: Kysely<Tables>, id: string): Promise<void> {
  await sql`
    update billing.deferred_events set ${asNew}
    where state = 'failed' and webhook_call_id = ${id}::uuid`.execute(db)
}

function notFound(id: string): QuittanceError {
  return new QuittanceError('call_not_found', `there is no call ${JSON.stringify(id)}`)
}
