import { sql } from 'kysely'
import type { Database } from '../database/connect.ts'
import { countUpTo } from '../database/count-up-to.ts'
import { interval } from '../database/interval.ts'
import { readInOrder } from '../database/read-in-order.ts'
import { sumStuck } from '../database/stuck-payments.ts'
import { days, seconds, type Duration } from '../kernel/duration.ts'
import type { GaugeValue } from '../numbers/gauge-value.ts'

const lastAcceptedWithin: Duration = days(8)
/** A count of a minute says no more than that it was within it. */
const exactness: Duration = seconds(60)

/**
 * What monitoring asks of the database, one after the other: no more than one connection is busy with
 * it, and each statement is bounded by its indexes. What fails is left out, and given to `onError`.
 */
export async function readGauges(
  database: Database,
  gateways: readonly string[],
  onError: (error: unknown) => void,
): Promise<readonly GaugeValue[]> {
  await sql`select 1`.execute(database.db)
  const values: GaugeValue[] = []
  for (const read of [
    readQueues,
    readOldest,
    readWaiting,
    readAccepted,
    readSchedules,
    readEndpoints,
  ]) {
    try {
      values.push(...(await read(database, gateways)))
    } catch (error) {
      onError(error)
    }
  }
  return values
}

type Read = (database: Database, gateways: readonly string[]) => Promise<readonly GaugeValue[]>

const readQueues: Read = async (database) => {
  const rows = (table: 'webhook_calls' | 'deliveries') => (state: string, order: string) =>
    countUpTo(sql`from ${sql.table(`billing.${table}`)}
      where state = ${sql.lit(state)} order by ${sql.raw(order)}`)
  const calls = rows('webhook_calls')
  const deliveries = rows('deliveries')
  const query = sql<{ name: 'calls' | 'deliveries'; state: string; value: number }>`
    select * from (values
      ('calls', 'pending', ${calls('pending', 'next_attempt_at, id')}),
      ('calls', 'processing', ${calls('processing', 'lease_until')}),
      ('calls', 'failed', ${calls('failed', 'received_at, id')}),
      ('deliveries', 'pending', ${deliveries('pending', 'outbox, next_attempt_at, id')}),
      ('deliveries', 'processing', ${deliveries('processing', 'lease_until')}),
      ('deliveries', 'failed', ${deliveries('failed', 'id')})
    ) as queue (name, state, value)`
  const found = await readInOrder(database, (db) => query.execute(db))
  return found.rows.map(({ name, state, value }) => ({ name, labels: { state }, value }))
}

const readOldest: Read = async ({ db }) => {
  const { rows } = await sql<{ value: number }>`
    select greatest(0, coalesce(extract(epoch from
      statement_timestamp() - min(next_attempt_at)), 0))::float8 as value
    from billing.webhook_calls where state = 'pending'`.execute(db)
  return rows.map(({ value }) => ({ name: 'oldest_pending_seconds', labels: {}, value }))
}

const readWaiting: Read = (database, gateways) =>
  readInOrder(database, async (db) => {
    const { rows } = await sql<Record<'reviews_open' | 'checkouts_unknown', number>>`
      select
        ${countUpTo(sql`from billing.reviews where state = 'open' order by id`)} as reviews_open,
        ${countUpTo(sql`from billing.payments where checkout = 'unknown' and status = 'pending'
          order by created_at`)} as checkouts_unknown`.execute(db)
    const overdue = await sumStuck(db, { stuck: 'poll_overdue', gateways })
    return [
      { name: 'reviews_open', labels: {}, value: rows[0]?.reviews_open ?? 0 },
      { name: 'polls_overdue', labels: {}, value: overdue.count },
      { name: 'checkouts_unknown', labels: {}, value: rows[0]?.checkouts_unknown ?? 0 },
    ]
  })

/** By what was counted: the calls themselves have no index for it. */
const readAccepted: Read = async ({ db }) => {
  const { rows } = await sql<{ gateway: string; value: number }>`
    select gateway, greatest(0, extract(epoch from statement_timestamp() - max(at)
      - ${interval(exactness)}))::float8 as value
    from billing.counts
    where span in ('minute', 'quarter') and metric = 'callbacks_total' and label = 'accepted'
      and at > statement_timestamp() - ${interval(lastAcceptedWithin)} and gateway <> ''
    group by gateway`.execute(db)
  return rows.map(({ gateway, value }) => ({
    name: 'last_accepted_seconds',
    labels: { gateway },
    value,
  }))
}

/** Those that are held wait for somebody, or for a time: see readiness. */
const readSchedules: Read = async ({ db }) => {
  const { rows } = await sql<{ schedule: string; value: number }>`
    select name as schedule,
      greatest(0, extract(epoch from statement_timestamp() - next_run_at))::float8 as value
    from billing.schedules where held_reason is null`.execute(db)
  return rows.map(({ schedule, value }) => ({
    name: 'schedule_overdue_seconds',
    labels: { name: schedule },
    value,
  }))
}

const readEndpoints: Read = async ({ db }) => {
  const { rows } = await sql<{ endpoint: string; value: number }>`
    select endpoint.name as endpoint, greatest(0, feed.last_position - position)::float8 as value
    from billing.endpoints as endpoint, billing.feeds as feed
    where feed.name = 'events' and enabled`.execute(db)
  return rows.map(({ endpoint, value }) => ({
    name: 'endpoint_behind',
    labels: { endpoint },
    value,
  }))
}
