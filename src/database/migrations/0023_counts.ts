import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * What was counted, for operators: nothing about money is read here. A `minute` is written by each
 * process; a `quarter` of an hour and an `hour` are sums over all of them. `label`: the labels of the
 * metric besides the gateway, joined by slashes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`create table billing.counts (
      span text not null check (span in ('minute', 'quarter', 'hour')),
      at timestamptz(0) not null,
      metric text not null,
      gateway text not null,
      label text not null,
      process text not null,
      value double precision not null check (value >= 0),
      constraint counts_pkey primary key (span, metric, at, gateway, label, process)
    )`,
  ])
}
