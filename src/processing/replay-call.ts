import { sql, type Kysely } from 'kysely'
import { findCall } from '../database/calls.ts'
import type { Tables } from '../database/tables.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { isUuid } from '../kernel/ids.ts'
import { requeued } from './awaiting.ts'

/** Puts a finished call back into the queue: the same code runs again, and its claims still hold. */
export async function replayCall(db: Kysely<Tables>, id: string): Promise<void> {
  if (!isUuid(id)) throw notFound(id)
  const { numAffectedRows } = await sql`
    update billing.webhook_calls set ${requeued}
    where id = ${id}::uuid and state in ('processed', 'ignored', 'failed')`.execute(db)
  if (numAffectedRows === 1n) return
  const call = await findCall(db, id)
  if (call === undefined) throw notFound(id)
  throw new QuittanceError('call_in_progress', `call ${id} is ${call.state}`)
}

function notFound(id: string): QuittanceError {
  return new QuittanceError('call_not_found', `there is no call ${JSON.stringify(id)}`)
}
