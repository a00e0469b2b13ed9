import { sql, type Kysely } from 'kysely'
import type { RunItemsTable } from './run-tables.ts'
import type { Tables } from './tables.ts'

type ItemKind = RunItemsTable['kind']

/** What a run has put back into the queue. */
export async function insertRunItems(
  db: Kysely<Tables>,
  items: { readonly runId: string; readonly kind: ItemKind; readonly ids: readonly string[] },
): Promise<void> {
  const { runId, kind, ids } = items
  if (ids.length === 0) return
  await sql`insert into billing.run_items (run_id, id, kind)
    select ${runId}::uuid, id, ${kind} from unnest(${[...ids]}::uuid[]) as requeued (id)`.execute(
    db,
  )
}

interface Item {
  readonly id: string
  readonly kind: ItemKind
}

/** The items after that one, by id. */
export async function readRunItems(
  db: Kysely<Tables>,
  runId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly Item[]> {
  let select = db
    .selectFrom('billing.run_items')
    .select(['id', 'kind'])
    .where('run_id', '=', runId)
    .orderBy('id')
    .limit(limit)
  if (after !== null) select = select.where('id', '>', after)
  return select.execute()
}

export async function deleteRunItems(
  db: Kysely<Tables>,
  runId: string,
  ids: readonly string[],
): Promise<void> {
  await sql`delete from billing.run_items
    where run_id = ${runId}::uuid and id = any(${[...ids]}::uuid[])`.execute(db)
}

/** What became of rows that were put back into the queue. */
export interface Standings {
  /** Not processed yet, or to be retried. */
  readonly waiting: ReadonlySet<string>
  readonly failed: ReadonlySet<string>
}

/** One that is in neither set was processed, or pruned since. */
export async function readStandings(
  db: Kysely<Tables>,
  items: readonly Item[],
): Promise<Standings> {
  const idsOf = (kind: ItemKind) => items.flatMap((item) => (item.kind === kind ? [item.id] : []))
  const rows = [
    ...(await readCallStates(db, idsOf('call'))),
    ...(await readDeliveryStates(db, idsOf('delivery'))),
  ]
  const inState = (...states: readonly string[]) =>
    new Set(rows.flatMap(({ id, state }) => (states.includes(state) ? [id] : [])))
  return {
    waiting: inState('pending', 'processing'),
    failed: inState('failed'),
  }
}

type Row = { readonly id: string; readonly state: string }

async function readCallStates(db: Kysely<Tables>, ids: readonly string[]): Promise<readonly Row[]> {
  const { rows } = await sql<Row>`select id, state from billing.webhook_calls
    where id = any(${[...ids]}::uuid[])`.execute(db)
  return rows
}

async function readDeliveryStates(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<readonly Row[]> {
  const { rows } = await sql<Row>`select id, state from billing.deliveries
    where id = any(${[...ids]}::uuid[])`.execute(db)
  return rows
}
