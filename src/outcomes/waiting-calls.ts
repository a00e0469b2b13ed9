import { setTimeout as pause } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'

/** How many rows one statement reads; then other work has its turn. */
const pageRows = 1_000
const pauseMs = 20

interface WaitingCall {
  readonly id: string
  readonly awaiting: string
}

const beginning: WaitingCall = { id: '00000000-0000-0000-0000-000000000000', awaiting: '' }

/**
 * The ids of all finished calls that wait for a payment, page by page. If another system uses the
 * same account at a provider, all its payments wait here until they are pruned.
 */
export async function* waitingCalls(db: Kysely<Tables>): AsyncGenerator<readonly string[]> {
  for (let after = beginning; ;) {
    const { rows } = await sql<WaitingCall>`
      select id, awaiting from billing.webhook_calls
      where awaiting is not null and (awaiting, id) > (${after.awaiting}, ${after.id}::uuid)
      order by awaiting, id limit ${pageRows}`.execute(db)
    if (rows.length > 0) yield rows.map(({ id }) => id)
    if (rows.length < pageRows) return
    const [last = after] = rows.slice(-1)
    after = last
    await pause(pauseMs)
  }
}
