import { sql, type Kysely } from 'kysely'
import type { Duration } from '../kernel/duration.ts'
import { interval } from './interval.ts'
import { named } from './named-statements.ts'
import type { Tables } from './tables.ts'

/**
 * Rows of `schedules` say to all processes that no saved card is charged by schedule: of any gateway
 * until an operator releases it, or of one gateway for a while.
 */
const all = 'charges'
const ofGateway = (gateway: string) => `${all}/${gateway}`

/** What stands against charges now, and the database's time. */
export interface ChargeHolds {
  readonly now: Date
  /** Null: nothing. */
  reasonOf(gateway: string): string | null
}

export async function readChargeHolds(
  db: Kysely<Tables>,
  gateways: readonly string[],
): Promise<ChargeHolds> {
  const { rows } = await sql<{
    now: Date
    name: string | null
    reason: string | null
  }>`${named('read-charge-holds')}
    select statement_timestamp() as now, held.name, held.held_reason as reason
    from (values (1)) as one left join billing.schedules as held
      on held.name = any(${[all, ...gateways.map(ofGateway)]}::text[])
      and held.held_reason is not null and held.next_run_at > statement_timestamp()`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('the database does not know the time')
  const reasons = new Map(rows.map(({ name, reason }) => [name, reason]))
  const reasonOf = (gateway: string) => reasons.get(all) ?? reasons.get(ofGateway(gateway)) ?? null
  return { now: row.now, reasonOf }
}

/** A gateway, or all of them (null), whose saved cards are not charged by schedule. */
export interface HeldCharges {
  readonly gateway: string | null
  readonly reason: string
  /** Null: until it is released. */
  readonly until: Date | null
}

export async function listHeldCharges(db: Kysely<Tables>): Promise<readonly HeldCharges[]> {
  const { rows } = await sql<{ name: string; reason: string; until: Date }>`
    select name, held_reason as reason, next_run_at as until from billing.schedules
    where (name = ${all} or name like ${`${all}/%`}) and held_reason is not null
      and next_run_at > statement_timestamp() order by name`.execute(db)
  return rows.map(({ name, reason, until }) =>
    name === all
      ? { gateway: null, reason, until: null }
      : { gateway: name.slice(all.length + 1), reason, until },
  )
}

/** Nothing ends it but `releaseCharges`. */
const withoutEnd = sql`'9999-12-31'::timestamptz`

/** Stops all charges by schedule, in all processes: those whose payment is not committed yet. */
export async function holdCharges(db: Kysely<Tables>, reason: string): Promise<void> {
  await write(db, all, { reason, end: withoutEnd })
}

/** Error-free where nothing is held. */
export async function releaseCharges(db: Kysely<Tables>): Promise<void> {
  await sql`delete from billing.schedules where name = ${all} or name like ${`${all}/%`}`.execute(
    db,
  )
}

/** The gateway is left alone for a while; a rest that lasts longer stays. */
export async function restGateway(
  db: Kysely<Tables>,
  gateway: string,
  rest: { readonly reason: string; readonly length: Duration },
): Promise<void> {
  const end = sql`statement_timestamp() + ${interval(rest.length)}`
  await write(db, ofGateway(gateway), { reason: rest.reason.slice(0, 1000), end })
}

async function write(
  db: Kysely<Tables>,
  name: string,
  { reason, end }: { readonly reason: string; readonly end: ReturnType<typeof sql> },
): Promise<void> {
  await sql`
    insert into billing.schedules as known (name, next_run_at, held_reason)
    values (${name}, ${end}, ${reason})
    on conflict (name) do update set held_reason = excluded.held_reason,
      next_run_at = greatest(known.next_run_at, excluded.next_run_at)`.execute(db)
}
