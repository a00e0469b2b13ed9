import { setTimeout as pause } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'

/** How many rows one statement reads; then other work has its turn. */
const pageRows = 1_000
const pauseMs = 20

/** A finished call, and the one or two names under which it waits for a payment. */
export interface WaitingCall {
  readonly id: string
  readonly gateway: string
  readonly awaiting: string
  readonly awaiting_also: string | null
}

const columns = sql`id, gateway, awaiting, awaiting_also`
const beginning = { id: '00000000-0000-0000-0000-000000000000', awaiting: '' }

/** Nothing if the call does not wait. */
export async function readWaiting(db: Kysely<Tables>, id: string): Promise<readonly WaitingCall[]> {
  const { rows } = await sql<WaitingCall>`
    select ${columns} from billing.webhook_calls
    where id = ${id}::uuid and awaiting is not null`.execute(db)
  return rows
}

/**
 * All finished calls that wait for a payment, page by page. If another system uses the same account
 * at a provider, all its payments wait here until they are pruned.
 */
export async function* waitingCalls(db: Kysely<Tables>): AsyncGenerator<readonly WaitingCall[]> {
  for (let after = beginning; ;) {
    const { rows } = await sql<WaitingCall>`
      select ${columns} from billing.webhook_calls
      where awaiting is not null and (awaiting, id) > (${after.awaiting}, ${after.id}::uuid)
      order by awaiting, id limit ${pageRows}`.execute(db)
    if (rows.length > 0) yield rows
    if (rows.length < pageRows) return
    const [last = after] = rows.slice(-1)
    after = last
    await pause(pauseMs)
  }
}
