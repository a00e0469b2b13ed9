import { sql, type Kysely } from 'kysely'
import { findCall } from '../database/calls.ts'
import type { Tables } from '../database/tables.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { isUuid } from '../kernel/ids.ts'
import { asNew } from '../queue/end-rows.ts'
import { requeued } from '../outcomes/awaiting.ts'

/**
 * Puts an ended call back into the queue: the same code runs again, and its claims still hold. Its
 * events' deliveries that had failed for good are retried as well.
 */
export async function replayCall(db: Kysely<Tables>, id: string): Promise<void> {
  if (!isUuid(id)) throw notFound(id)
  const { rows } = await sql`
    with replayed as (
      update billing.webhook_calls set ${requeued}
      where id = ${id}::uuid and state in ('processed', 'ignored', 'failed')
      returning id
    ), redelivered as (
      update billing.deliveries set ${asNew}
      where state = 'failed' and event_id in (
        select event.id from billing.events as event
        join replayed on event.webhook_call_id = replayed.id)
    )
    select id from replayed`.execute(db)
  if (rows.length === 1) return
  const call = await findCall(db, id)
  if (call === undefined) throw notFound(id)
  throw new QuittanceError('call_in_progress', `call ${id} is ${call.state}`)
}

function notFound(id: string): QuittanceError {
  return new QuittanceError('call_not_found', `there is no call ${JSON.stringify(id)}`)
}
