import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely'
import type { WindowFacts } from '../subscriptions/quota-window.ts'
import type { QuotaCounter } from '../subscriptions/quota.ts'
import { named } from './named-statements.ts'
import { currentPeriodOf } from './subscription-periods.ts'
import type { Tables } from './tables.ts'
import type { UsageCountersTable } from './usage-tables.ts'

/** Names a counter. */
export interface CounterKey {
  readonly subscriptionId: string
  readonly quota: string
}

/** Columns that `toCounter` reads. */
const columns = [
  'subscription_id',
  'quota',
  'units_limit',
  'used',
  'every_unit',
  'every_count',
  'anchor_at',
  'time_zone',
  'window_period_id',
  'window_starts_at',
  'window_ends_at',
  'percents',
  'reached',
  'event_number',
  'look_at',
] as const satisfies readonly (keyof UsageCountersTable)[]

type CounterRow = Pick<Selectable<UsageCountersTable>, (typeof columns)[number]>
const counterColumns = sql.raw(columns.map((column) => `counter.${column}`).join(', '))

function toCounter(row: CounterRow): QuotaCounter {
  const { every_unit: unit, every_count: count, window_starts_at: startsAt } = row
  const { window_ends_at: endsAt, window_period_id: periodId } = row
  return {
    subscriptionId: row.subscription_id,
    quota: row.quota,
    limit: row.units_limit,
    every: unit === null || count === null ? null : { unit, count },
    percents: row.percents,
    anchorAt: row.anchor_at,
    timeZone: row.time_zone,
    used: row.used,
    window: startsAt === null || endsAt === null ? null : { periodId, startsAt, endsAt },
    reached: row.reached,
    eventNumber: row.event_number,
    lookAt: row.look_at,
  }
}

/**
 * Locks counters, in the order of their keys: two transactions never wait for each other. Whoever
 * holds payments or subscriptions may lock them; whoever holds them locks neither.
 */
export async function lockCounters(
  db: Kysely<Tables>,
  keys: readonly CounterKey[],
): Promise<readonly QuotaCounter[]> {
  const { rows } = await sql<CounterRow>`${named('lock-counters')}
    select ${counterColumns} from ${unnestKeys(keys)}
    join billing.usage_counters as counter
      on counter.subscription_id = wanted.subscription_id and counter.quota = wanted.quota
    order by counter.subscription_id, counter.quota for no key update of counter`.execute(db)
  return rows.map(toCounter)
}

/** Those of one subscription, in the same order. */
export async function lockCountersOf(
  db: Kysely<Tables>,
  subscriptionId: string,
): Promise<readonly QuotaCounter[]> {
  const { rows } = await sql<CounterRow>`
    select ${counterColumns} from billing.usage_counters as counter
    where counter.subscription_id = ${subscriptionId}::uuid
    order by counter.quota for no key update`.execute(db)
  return rows.map(toCounter)
}

/** Those whose window may be over, longest waiting first; what others hold is skipped. */
export async function lockDueCounters(
  db: Kysely<Tables>,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<readonly QuotaCounter[]> {
  const { rows } = await sql<CounterRow>`${named('lock-due-counters')}
    select ${counterColumns} from billing.usage_counters as counter
    where counter.look_at <= ${now} order by counter.look_at limit ${limit}
    for no key update skip locked`.execute(db)
  return rows.map(toCounter)
}

function unnestKeys(keys: readonly CounterKey[]): RawBuilder<unknown> {
  return sql`unnest(${keys.map(({ subscriptionId }) => subscriptionId)}::uuid[],
    ${keys.map(({ quota }) => quota)}::text[]) as wanted (subscription_id, quota)`
}

/** A counter as it was found, and what its window hangs on if that may be over. */
export interface ReadCounter {
  readonly counter: QuotaCounter
  readonly facts: WindowFacts
}

interface FactsRow {
  readonly period_id: string | null
  readonly period_starts_at: Date | null
  readonly period_ends_at: Date | null
  readonly ended_at: Date | null
}

function toFacts(row: FactsRow): WindowFacts {
  const { period_id: periodId, period_starts_at: startsAt, period_ends_at: endsAt } = row
  const hasNone = periodId === null || startsAt === null || endsAt === null
  return {
    period: hasNone ? null : { periodId, startsAt, endsAt },
    hasEnded: row.ended_at !== null,
  }
}

/** What `toFacts` reads of a period. */
const factsOfPeriod = sql`period.id as period_id, period.starts_at as period_starts_at,
  period.ends_at as period_ends_at`

/**
 * The counters of a subscription, or one of them: one look into the primary key. Only where a window
 * is over are its subscription and its current period read as well.
 */
export async function readCounters(
  db: Kysely<Tables>,
  { subscriptionId, quota }: { readonly subscriptionId: string; readonly quota: string | null },
  now: Date,
): Promise<readonly ReadCounter[]> {
  const isOver = sql`(counter.window_ends_at is null or counter.window_ends_at <= ${now}
    or counter.window_starts_at > ${now})`
  const period = currentPeriodOf(sql`counter.subscription_id`, {
    now,
    onlyIf: sql`${isOver} and counter.every_unit is null`,
  })
  const select = sql`select ${counterColumns}, owner.ended_at, ${factsOfPeriod}
    from billing.usage_counters as counter
    left join lateral (
      select subscription.ended_at from billing.subscriptions as subscription
      where subscription.id = counter.subscription_id and ${isOver} limit 1
    ) as owner on true
    left join lateral (${period}) as period on true`
  const { rows } =
    quota === null
      ? await sql<CounterRow & FactsRow>`${named('read-counters')}${select}
          where counter.subscription_id = ${subscriptionId}::uuid order by counter.quota`.execute(
          db,
        )
      : await sql<CounterRow & FactsRow>`${named('read-counter')}${select}
          where counter.subscription_id = ${subscriptionId}::uuid
            and counter.quota = ${quota}`.execute(db)
  return rows.map((row) => ({ counter: toCounter(row), facts: toFacts(row) }))
}

/** What the windows of these subscriptions hang on, by their ids. */
export async function readWindowFacts(
  db: Kysely<Tables>,
  subscriptionIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, WindowFacts>> {
  const { rows } = await sql<FactsRow & { readonly id: string }>`${named('read-window-facts')}
    select subscription.id, subscription.ended_at, ${factsOfPeriod}
    from billing.subscriptions as subscription
    left join lateral (${currentPeriodOf(sql`subscription.id`, { now })}) as period on true
    where subscription.id = any(${[...subscriptionIds]}::uuid[])`.execute(db)
  return new Map(rows.map((row) => [row.id, toFacts(row)]))
}

/** Writes how much is used by now, each row once. They are locked. */
export async function updateUsed(
  db: Kysely<Tables>,
  counters: readonly QuotaCounter[],
): Promise<void> {
  if (counters.length === 0) return
  await sql`${named('update-used')}
    update billing.usage_counters as counter set used = counted.used
    from unnest(${counters.map(({ subscriptionId }) => subscriptionId)}::uuid[],
      ${counters.map(({ quota }) => quota)}::text[],
      ${counters.map(({ used }) => `${used}`)}::bigint[]) as counted (subscription_id, quota, used)
    where counter.subscription_id = counted.subscription_id
      and counter.quota = counted.quota`.execute(db)
}

/** Writes what counting and the passing of time change, each row once. They are locked. */
export async function updateCounters(
  db: Kysely<Tables>,
  counters: readonly QuotaCounter[],
): Promise<void> {
  if (counters.length === 0) return
  const of = <T>(value: (counter: QuotaCounter) => T) => counters.map(value)
  const time = (value: (counter: QuotaCounter) => Date | undefined | null) =>
    of((counter) => value(counter)?.toISOString() ?? null)
  await sql`${named('update-counters')}
    update billing.usage_counters as counter
    set used = moved.used, reached = moved.reached,
      window_period_id = moved.window_period_id,
      window_starts_at = moved.window_starts_at, window_ends_at = moved.window_ends_at,
      event_number = moved.event_number, look_at = moved.look_at
    from unnest(${of(({ subscriptionId }) => subscriptionId)}::uuid[],
      ${of(({ quota }) => quota)}::text[], ${of(({ used }) => `${used}`)}::bigint[],
      ${of(({ reached }) => reached)}::integer[],
      ${of(({ window }) => window?.periodId ?? null)}::uuid[],
      ${time(({ window }) => window?.startsAt)}::timestamptz[],
      ${time(({ window }) => window?.endsAt)}::timestamptz[],
      ${of(({ eventNumber }) => `${eventNumber}`)}::bigint[],
      ${time(({ lookAt }) => lookAt)}::timestamptz[])
      as moved (subscription_id, quota, used, reached, window_period_id, window_starts_at,
        window_ends_at, event_number, look_at)
    where counter.subscription_id = moved.subscription_id and counter.quota = moved.quota`.execute(
    db,
  )
}

/** Writes counters whole: new ones, and those whose terms have changed. */
export async function upsertCounters(
  db: Kysely<Tables>,
  counters: readonly QuotaCounter[],
): Promise<void> {
  if (counters.length === 0) return
  await db
    .insertInto('billing.usage_counters')
    .values(counters.map(toRow))
    .onConflict((conflict) =>
      conflict.columns(['subscription_id', 'quota']).doUpdateSet((excluded) => ({
        units_limit: excluded.ref('excluded.units_limit'),
        used: excluded.ref('excluded.used'),
        every_unit: excluded.ref('excluded.every_unit'),
        every_count: excluded.ref('excluded.every_count'),
        anchor_at: excluded.ref('excluded.anchor_at'),
        window_period_id: excluded.ref('excluded.window_period_id'),
        window_starts_at: excluded.ref('excluded.window_starts_at'),
        window_ends_at: excluded.ref('excluded.window_ends_at'),
        percents: excluded.ref('excluded.percents'),
        reached: excluded.ref('excluded.reached'),
        event_number: excluded.ref('excluded.event_number'),
        look_at: excluded.ref('excluded.look_at'),
      })),
    )
    .execute()
}

function toRow(counter: QuotaCounter) {
  return {
    subscription_id: counter.subscriptionId,
    quota: counter.quota,
    units_limit: counter.limit,
    used: counter.used,
    every_unit: counter.every?.unit ?? null,
    every_count: counter.every?.count ?? null,
    anchor_at: counter.anchorAt,
    time_zone: counter.timeZone,
    window_period_id: counter.window?.periodId ?? null,
    window_starts_at: counter.window?.startsAt ?? null,
    window_ends_at: counter.window?.endsAt ?? null,
    percents: [...counter.percents],
    reached: counter.reached,
    event_number: counter.eventNumber,
    look_at: counter.lookAt,
  }
}

export async function deleteCounters(
  db: Kysely<Tables>,
  subscriptionId: string,
  quotas: readonly string[],
): Promise<void> {
  if (quotas.length === 0) return
  await db
    .deleteFrom('billing.usage_counters')
    .where('subscription_id', '=', subscriptionId)
    .where('quota', 'in', [...quotas])
    .execute()
}
