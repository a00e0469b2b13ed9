import { sql, type Kysely, type Selectable } from 'kysely'
import { days } from '../kernel/duration.ts'
import { runKinds, type Run, type RunFilter, type RunKind } from '../wire/run.ts'
import { interval } from './interval.ts'
import { newestOf, toPage, type Page, type PageQuery } from './page.ts'
import type { RunsTable } from './run-tables.ts'
import type { Tables } from './tables.ts'

export type RunRow = Selectable<RunsTable>

/** What matched a filter when somebody looked. */
export interface RunEstimate {
  readonly count: number
  /** There may be more. */
  readonly isLeast: boolean
}

export interface NewRun {
  readonly id: string
  readonly operator: string | null
  readonly filter: RunFilter
  readonly estimate: RunEstimate
}

/** One of this id that is there already stays as it is. */
export async function insertRun(db: Kysely<Tables>, run: NewRun): Promise<void> {
  const { id, operator, filter, estimate } = run
  await db
    .insertInto('billing.runs')
    .values({
      id,
      operator,
      ...filter,
      state: 'running',
      estimate: estimate.count,
      estimate_is_least: estimate.isLeast,
      phase: filter.kind ?? runKinds[0],
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

export async function findRun(db: Kysely<Tables>, id: string): Promise<Run | undefined> {
  const select = db.selectFrom('billing.runs').selectAll()
  const row = await select.where('id', '=', id).executeTakeFirst()
  return row && toRun(row)
}

/** Newest first. */
export async function listRuns(db: Kysely<Tables>, query: PageQuery): Promise<Page<Run>> {
  const rows = await db
    .selectFrom('billing.runs')
    .selectAll()
    .$call(newestOf(query, 'id', 'created_at'))
    .execute()
  return toPage(rows.map(toRun), query, ({ createdAt, id }) => ({ at: createdAt, id }))
}

/** Ended so long ago that nobody asks any more. */
const keptFor = days(30)

export async function deleteOldRuns(db: Kysely<Tables>): Promise<void> {
  await sql`delete from billing.runs
    where finished_at < statement_timestamp() - ${interval(keptFor)}`.execute(db)
}

function toRun(row: RunRow): Run {
  return {
    id: row.id,
    operator: row.operator,
    filter: filterOf(row),
    state: row.state,
    estimate: row.estimate,
    estimateIsLeast: row.estimate_is_least,
    done: row.done,
    failedAgain: row.failed_again,
    waiting: row.done - row.ended,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  }
}

/** The filter alone. */
export function filterOf({
  gateway,
  kind,
  listener,
  exception,
  since,
  until,
}: RunFilter): RunFilter {
  return { gateway, kind, listener, exception, since, until }
}

/** What a run has put back into the queue. */
export async function insertRunItems(
  db: Kysely<Tables>,
  items: { readonly runId: string; readonly kind: RunKind; readonly ids: readonly string[] },
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
  readonly kind: RunKind
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
interface Standings {
  /** Not processed yet, or to be retried. */
  readonly waiting: ReadonlySet<string>
  readonly failed: ReadonlySet<string>
}

const tableOf = {
  call: 'billing.webhook_calls',
  delivery: 'billing.deliveries',
  deferred_event: 'billing.deferred_events',
} as const satisfies Readonly<Record<RunKind, keyof Tables>>

/** One that is in neither set was processed, or pruned since. */
export async function readStandings(
  db: Kysely<Tables>,
  items: readonly Item[],
): Promise<Standings> {
  const found: { id: string; state: string }[] = []
  // Calls by themselves: they can be kept elsewhere.
  for (const kind of runKinds) {
    const ids = items.flatMap((item) => (item.kind === kind ? [item.id] : []))
    if (ids.length === 0) continue
    const { rows } = await sql<{ id: string; state: string }>`select id, state
      from ${sql.table(tableOf[kind])} where id = any(${ids}::uuid[])`.execute(db)
    found.push(...rows)
  }
  const inState = (...states: readonly string[]) =>
    new Set(found.flatMap(({ id, state }) => (states.includes(state) ? [id] : [])))
  return {
    waiting: inState('pending', 'processing'),
    failed: inState('failed'),
  }
}
