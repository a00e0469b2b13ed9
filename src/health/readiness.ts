import { sql, type Kysely } from 'kysely'
import type { Database } from '../database/connect.ts'
import { interval } from '../database/interval.ts'
import { readNewestPayment } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import { judge, lookInto, type Judged, type Look } from './fact.ts'
import { allFacts } from './facts.ts'
import { sumOfWaiting, waitingCalls } from './sources.ts'

/** What monitoring asks: every problem is one sentence; none means ready. */
export interface Readiness {
  readonly ready: boolean
  readonly problems: readonly string[]
  /** What a person should know although callbacks are taken: charges that are held, for one. */
  readonly warnings: readonly string[]
  /** Up to 10,001: counting ends there. */
  readonly pendingCalls: number
  /** How long the oldest call that is due has been waiting. */
  readonly oldestPendingSeconds: number
}

/** `gateways`: names of those that this process knows. */
export async function readReadiness(
  database: Database,
  gateways: readonly string[],
): Promise<Readiness> {
  const { isReadOnly, ...readiness } = await lookInto(database, gateways, lookAtAll)
  // Reading meets no error there, and would continue there for as long as the connections live.
  if (isReadOnly) database.reconnect()
  return readiness
}

async function lookAtAll(look: Look): Promise<Readiness & { readonly isReadOnly: boolean }> {
  // As requests do: what they cannot read is a problem.
  await look.ask(readNewestPayment)
  const { isReadOnly, isUnconfirmed } = await look.ask(readServer)
  const wrong: Judged[] = []
  for (const row of allFacts.filter(({ isReadiness }) => isReadiness)) {
    wrong.push(...(await judge(row, look)).wrong)
  }
  const said = (isError: boolean) =>
    wrong.filter(({ severity }) => (severity === 'error') === isError).map(({ says }) => says)
  const problems = [
    ...(isReadOnly ? ['the database is read-only'] : []),
    ...(isUnconfirmed ? ['commits wait for a synchronous standby that does not answer'] : []),
    ...said(true),
  ]
  const { pending, oldestSeconds } = sumOfWaiting(await look.ask(waitingCalls))
  return {
    ready: problems.length === 0,
    problems,
    warnings: said(false),
    pendingCalls: pending,
    oldestPendingSeconds: Math.round(oldestSeconds),
    isReadOnly,
  }
}

/** If a commit waits this long for a standby, its callbacks have been answered 503. */
const longCommit: Duration = seconds(2)

interface Server {
  readonly isReadOnly: boolean
  readonly isUnconfirmed: boolean
}

async function readServer(db: Kysely<Tables>): Promise<Server> {
  const { rows } = await sql<Server>`
    select current_setting('transaction_read_only') = 'on' as "isReadOnly",
      exists (
        select from pg_stat_activity
        where datname = current_database() and wait_event = 'SyncRep'
          and query_start < statement_timestamp() - ${interval(longCommit)}
      ) as "isUnconfirmed"`.execute(db)
  return rows[0] ?? { isReadOnly: true, isUnconfirmed: false }
}
