import { setTimeout as pause } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { counted } from '../kernel/counted.ts'
import type { Worker } from '../worker/worker.ts'

/** How long to wait until all is done, and for what. */
export interface IdleOptions {
  /**
   * What to do about the attempt after a failed one, which is due only after 10 or 60 s:
   * - `wait` (the default): wait for it, or report it at once if that would take too long;
   * - `leave`: leave it, to look at things after the first attempt;
   * - `now`: make it at once, until it succeeds or the last one has failed.
   */
  readonly retries?: 'wait' | 'leave' | 'now'
  /** How long to wait at most; default 10,000. */
  readonly withinMs?: number
}

export interface IdleContext {
  readonly db: Kysely<Tables>
  readonly worker: Worker
  /** Whether this many events were dispatched to everybody. */
  readonly recorded: (events: number) => boolean
}

const defaultWaitMs = 10_000
const lookEveryMs = 10

/** Waits until no call and no delivery waits or is in work; fails with those that do. */
export async function untilIdle(
  context: IdleContext,
  { retries = 'wait', withinMs = defaultWaitMs }: IdleOptions,
): Promise<void> {
  const { db, worker, recorded } = context
  let stopped: Error | undefined
  void worker.ended.then((error) => (stopped = error))
  const deadline = performance.now() + withinMs
  for (;;) {
    if (retries === 'now') await makeDue(context)
    const waiting = (await readWaiting(db)).filter((one) => retries !== 'leave' || !isRetry(one))
    const events = await countEvents(db)
    if (waiting.length === 0 && recorded(events)) return
    if (stopped !== undefined) throw stopped
    const leftMs = deadline - performance.now()
    const inVain = retries === 'wait' && waiting.some(({ due_in_ms }) => due_in_ms > leftMs)
    if (leftMs <= 0 || inVain) throw new Error(stillBusy(waiting, { withinMs, retries }))
    await pause(lookEveryMs)
  }
}

interface WaitingRow {
  /** E.g. `call 0198...`. */
  readonly what: string
  readonly state: string
  readonly attempts: number
  readonly exception: string | null
  readonly due_in_ms: number
}

function isRetry({ state, exception, due_in_ms }: WaitingRow): boolean {
  return state === 'pending' && exception !== null && due_in_ms > 0
}

/** In one statement: between two, a call could change its state back and forth. */
async function readWaiting(db: Kysely<Tables>): Promise<readonly WaitingRow[]> {
  const rows = (table: 'webhook_calls' | 'deliveries' | 'deferred_events') => sql`
    state, attempts, exception,
    extract(epoch from next_attempt_at - statement_timestamp())::float8 * 1000 as due_in_ms
    from ${sql.table(`billing.${table}`)} where state in ('pending', 'processing')`
  const { rows: found } = await sql<WaitingRow>`
    select 'call ' || id || ' of ' || gateway as what, ${rows('webhook_calls')}
    union all select 'delivery to ' || listener as what, ${rows('deliveries')}
    union all select 'deferred ' || type as what, ${rows('deferred_events')}`.execute(db)
  return found
}

export async function countEvents(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ events: number }>`
    select count(*)::int as events from billing.events`.execute(db)
  return rows[0]?.events ?? 0
}

/** Skips every wait, even that for a provider's outage, which then has lasted too long. */
async function makeDue({ db, worker }: IdleContext): Promise<void> {
  await sql`
    update billing.webhook_calls set received_at = received_at - interval '1 year'
    where state = 'pending' and attempts = 0 and exception is not null`.execute(db)
  for (const table of ['webhook_calls', 'deliveries', 'deferred_events']) {
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(`billing.${table}`)} set next_attempt_at = statement_timestamp()
      where state = 'pending' and next_attempt_at > statement_timestamp()`.execute(db)
    if (numAffectedRows > 0n) worker.wake()
  }
}

function stillBusy(
  waiting: readonly WaitingRow[],
  { withinMs, retries }: Required<IdleOptions>,
): string {
  if (waiting.length === 0) return `an event did not reach the recorder within ${withinMs} ms`
  const hint =
    retries === 'wait' && waiting.some(isRetry)
      ? '; idle({ retries: "now" }) makes the next attempts at once, "leave" lets them wait'
      : ''
  return `not idle within ${withinMs} ms: ${waiting.map(sentence).join('; ')}${hint}`
}

function sentence(one: WaitingRow): string {
  const [reason = ''] = (one.exception ?? '').split('\n')
  const failure = reason === '' ? '' : `, the last one failed: ${reason}`
  const due = one.due_in_ms > 0 ? `, due in ${Math.ceil(one.due_in_ms / 1000)} s` : ''
  return `${one.what} is ${one.state} after ${counted(one.attempts, 'attempt')}${due}${failure}`
}
