import { setTimeout as pause } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import type { Database } from './connect.ts'
import { sqlStateOf } from './failure.ts'
import { lateIndexes, type LateIndex } from './migrations/late-indexes.ts'
import type { Tables } from './tables.ts'

/** `broken`: a build that was cut short left it behind; it is useless. */
type Unbuilt = LateIndex & { readonly state: 'missing' | 'broken' }

/** The indexes that the database lacks. Everything works without them, but slowly. */
export async function unbuiltIndexes(db: Kysely<Tables>): Promise<readonly Unbuilt[]> {
  const { rows } = await sql<{ name: string; valid: boolean }>`
    select relname as name, indisvalid as valid from pg_index
    join pg_class on pg_class.oid = indexrelid
    where relnamespace = to_regnamespace('billing')
      and relname = any(${lateIndexes.map(({ name }) => name)}::text[])`.execute(db)
  const states = new Map(rows.map(({ name, valid }) => [name, valid ? 'built' : 'broken'] as const))
  return lateIndexes.flatMap((index) => {
    const state = states.get(index.name) ?? 'missing'
    return state === 'built' ? [] : [{ ...index, state }]
  })
}

/** Any number that nobody else locks. */
const turnKey = 4_702_111_234
const pauseMs = 500

/**
 * Builds what is missing while everybody continues to write; several processes at once take turns.
 * A killed one leaves a broken index behind, which the next one rebuilds.
 */
export async function buildIndexes(db: Kysely<Tables>, kind: Database['kind']): Promise<void> {
  // Nobody else is there yet, and its one session cannot run a statement beside a transaction.
  if (kind === 'embedded') return build(db, '')
  while ((await unbuiltIndexes(db)).length > 0) {
    const building = db.transaction().execute((turn) => buildInTurn(db, turn))
    if (!(await building.catch(isInTheWay))) await pause(pauseMs)
  }
}

/**
 * If its process is gone, a build continues on the server. A process that wants to drop its index
 * waits for it, and it for that process, until the server cuts one of them short
 * (deadlock_detected).
 */
function isInTheWay(error: unknown): false {
  if (sqlStateOf(error) === '40P01') return false
  throw error
}

/**
 * False: it is another process's turn. A build waits for every older snapshot: waiting for one's
 * turn in a statement would hold one, and so would a statement with parameters.
 */
async function buildInTurn(db: Kysely<Tables>, turn: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ ours: boolean }>`
    select pg_try_advisory_xact_lock(${sql.lit(turnKey)}) as ours`.execute(turn)
  if (rows[0]?.ours !== true) return false
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(turn)
  await build(db, 'concurrently')
  return true
}

async function build(db: Kysely<Tables>, manner: 'concurrently' | ''): Promise<void> {
  for (const { name, on, state } of await unbuiltIndexes(db)) {
    if (state === 'broken') await sql.raw(`drop index ${manner} billing.${name}`).execute(db)
    await sql.raw(`create index ${manner} ${name} on ${on}`).execute(db)
  }
}
