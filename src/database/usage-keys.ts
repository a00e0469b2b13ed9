import { sql, type Kysely } from 'kysely'
import { days } from '../kernel/duration.ts'
import { interval } from './interval.ts'
import { named } from './named-statements.ts'
import type { Tables } from './tables.ts'
import type { CounterKey } from './usage-counters.ts'

/** A key of something that was used. */
export interface UsageKey extends CounterKey {
  readonly key: string
}

/** One that is to be counted. */
export interface CountedKey extends UsageKey {
  readonly units: bigint
}

/** When keys are counted, and by which flush: what it recognises its own rows by. */
export interface KeyOrigin {
  readonly countedAt: Date
  readonly writtenBy: string
}

/** Writes keys, each different, whose counters are locked; returns how many were not there. */
export async function insertKeys(
  db: Kysely<Tables>,
  keys: readonly CountedKey[],
  { countedAt, writtenBy }: KeyOrigin,
): Promise<number> {
  if (keys.length === 0) return 0
  const { numAffectedRows } = await sql`${named('insert-usage-keys')}
    insert into billing.usage_keys
      (subscription_id, quota, key, units, counted_at, written_by)
    select wanted.subscription_id, wanted.quota, wanted.key, wanted.units,
      ${countedAt}::timestamptz, ${writtenBy}::uuid
    from unnest(${keys.map(({ subscriptionId }) => subscriptionId)}::uuid[],
      ${keys.map(({ quota }) => quota)}::text[], ${keys.map(({ key }) => key)}::text[],
      ${keys.map(({ units }) => `${units}`)}::bigint[])
      as wanted (subscription_id, quota, key, units)
    on conflict do nothing`.execute(db)
  return Number(numAffectedRows ?? 0)
}

/** Those of these keys that are there. */
export async function findKeys(
  db: Kysely<Tables>,
  keys: readonly UsageKey[],
): Promise<readonly (UsageKey & { readonly writtenBy: string })[]> {
  if (keys.length === 0) return []
  // Not prepared: its plan is right for the size that the table has now.
  const { rows } = await sql<UsageKey & { readonly writtenBy: string }>`
    select known.subscription_id as "subscriptionId", known.quota, known.key,
      known.written_by as "writtenBy"
    from ${unnestKeys(keys)}
    join billing.usage_keys as known on known.subscription_id = wanted.subscription_id
      and known.quota = wanted.quota and known.key = wanted.key`.execute(db)
  return rows
}

/** Takes back what was not counted after all: such a key may come again. */
export async function deleteKeys(db: Kysely<Tables>, keys: readonly UsageKey[]): Promise<void> {
  if (keys.length === 0) return
  await sql`
    delete from billing.usage_keys as known using ${unnestKeys(keys)}
    where known.subscription_id = wanted.subscription_id and known.quota = wanted.quota
      and known.key = wanted.key`.execute(db)
}

function unnestKeys(keys: readonly UsageKey[]) {
  return sql`unnest(${keys.map(({ subscriptionId }) => subscriptionId)}::uuid[],
    ${keys.map(({ quota }) => quota)}::text[], ${keys.map(({ key }) => key)}::text[])
    as wanted (subscription_id, quota, key)`
}

/**
 * Deletes the oldest of the keys that are older than so many days; returns how many, 0: none is
 * left. Those of one flush have the same time, and go together.
 */
export async function deleteOldKeys(
  db: Kysely<Tables>,
  { keepDays, limit }: { readonly keepDays: number; readonly limit: number },
): Promise<number> {
  const isOld = sql`counted_at < statement_timestamp() - ${interval(days(keepDays))}`
  const { numAffectedRows } = await sql`
    with until as materialized (
      select max(counted_at) as at from (
        select counted_at from billing.usage_keys where ${isOld}
        order by counted_at limit ${limit}
      ) as oldest
    )
    delete from billing.usage_keys where counted_at <= (select at from until)`.execute(db)
  return Number(numAffectedRows ?? 0)
}
