import { sql } from 'kysely'
import type { TestBilling } from '../support/billing.ts'

/** What is counted by a process, so long ago. */
export interface CountedInTest {
  readonly span?: 'minute' | 'quarter' | 'hour'
  readonly minutesAgo?: number
  readonly gateway?: string
  /** By label. */
  readonly values: Readonly<Record<string, number>>
}

/** Writes counts as if processes had. */
export async function writeCounts(
  { database: { db } }: TestBilling,
  metric: string,
  { span = 'minute', minutesAgo = 0, gateway = 'fake', values }: CountedInTest,
): Promise<void> {
  const stride = { minute: '1 minute', quarter: '15 minutes', hour: '1 hour' }[span]
  await sql`
    insert into billing.counts (span, at, metric, gateway, label, process, value)
    select ${span}, date_bin(${stride}::interval, now() - make_interval(mins => ${minutesAgo}),
      timestamptz '2000-01-01 00:00:00+00'), ${metric}, ${gateway}, label, 'test', value
    from unnest(${Object.keys(values)}::text[], ${Object.values(values)}::float8[])
      as counted (label, value)
    on conflict (span, metric, at, gateway, label, process)
    do update set value = counts.value + excluded.value`.execute(db)
}
