import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../database/connect.ts'
import { countUpTo } from '../database/count-up-to.ts'
import { hasFailed } from '../database/delivery-state.ts'
import { isPolled } from '../database/due-payments.ts'
import { interval } from '../database/interval.ts'
import { days, minutes, seconds, type Duration } from '../kernel/duration.ts'
import type { GaugeName } from '../numbers/catalogue.ts'
import type { GaugeValue } from '../numbers/gauge-value.ts'

const overdueAfter: Duration = minutes(15)
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

const readQueues: Read = async ({ db }) => {
  const callsIn = (state: string) =>
    countUpTo(sql`from billing.webhook_calls where state = ${state}`)
  const deliveriesIn = (which: RawBuilder<unknown>) =>
    countUpTo(sql`from billing.deliveries where ${which}`)
  const { rows } = await sql<{ name: 'calls' | 'deliveries'; state: string; value: number }>`
    select * from (values
      ('calls', 'pending', ${callsIn('pending')}),
      ('calls', 'processing', ${callsIn('processing')}),
      ('calls', 'failed', ${callsIn('failed')}),
      ('deliveries', 'pending', ${deliveriesIn(sql`state = 'pending'`)}
        + ${deliveriesIn(sql`state = 'waiting'`)}),
      ('deliveries', 'processing', ${deliveriesIn(sql`state = 'processing'`)}
        + ${deliveriesIn(sql`state = 'held'`)}),
      ('deliveries', 'failed', ${deliveriesIn(hasFailed)})
    ) as queue (name, state, value)`.execute(db)
  return rows.map(({ name, state, value }) => ({ name, labels: { state }, value }))
}

const readOldest: Read = async ({ db }) => {
  const { rows } = await sql<{ value: number }>`
    select greatest(0, coalesce(extract(epoch from
      statement_timestamp() - min(next_attempt_at)), 0))::float8 as value
    from billing.webhook_calls where state = 'pending'`.execute(db)
  return rows.map(({ value }) => ({ name: 'oldest_pending_seconds', labels: {}, value }))
}

const readWaiting: Read = async ({ db }, gateways) => {
  const overdue = sql`next_poll_at < statement_timestamp() - ${interval(overdueAfter)}`
  const { rows } = await sql<Readonly<Record<string, number>>>`
    select
      ${countUpTo(sql`from billing.reviews where state = 'open'`)} as reviews_open,
      ${countUpTo(sql`from billing.payments
        where gateway = any(${[...gateways]}::text[]) and ${overdue} and ${isPolled}`)}
        as polls_overdue,
      ${countUpTo(sql`from billing.payments where checkout = 'unknown' and status = 'pending'`)}
        as checkouts_unknown`.execute(db)
  return Object.entries(rows[0] ?? {}).map(([name, value]) => ({
    name: name as GaugeName,
    labels: {},
    value,
  }))
}

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
