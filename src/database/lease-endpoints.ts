import { sql, type Kysely, type Selectable } from 'kysely'
import type { Duration } from '../kernel/duration.ts'
import type { Endpoint } from '../events/endpoint.ts'
import { toEndpoint } from './endpoints.ts'
import { interval } from './interval.ts'
import type { EndpointsTable } from './outbound-tables.ts'
import type { Tables } from './tables.ts'

/** An endpoint that is worked on by whoever holds its lease. */
export interface LeasedEndpoint extends Endpoint {
  readonly token: string
  /** Dealt with beyond its position. */
  readonly ahead: readonly bigint[]
  /** As stored; null of one that is declared in the configuration. */
  readonly secrets: Uint8Array | null
}

const mine = (token: string) => sql`lease_token = ${token}::uuid`

/**
 * Takes endpoints that have something to do: events beyond their position, or one that is due again.
 * Those that others hold are skipped. Of declared ones only those whose names are given, for their
 * secrets are in the configuration alone.
 */
export async function takeEndpoints(
  db: Kysely<Tables>,
  options: {
    readonly limit: number
    readonly token: string
    readonly lease: Duration
    readonly declared: readonly string[]
  },
): Promise<readonly LeasedEndpoint[]> {
  const { limit, token, lease, declared } = options
  const { rows } = await sql<Selectable<EndpointsTable>>`
    with due as materialized (
      select id from billing.endpoints as one
      where enabled and (next_at is null or next_at <= statement_timestamp())
        and (lease_until is null or lease_until <= statement_timestamp())
        and (source = 'api' or name = any(${[...declared]}::text[]))
        and (position < (select last_position from billing.feeds where name = 'events')
          or exists (select from billing.forwards where endpoint_id = one.id and state = 'pending'
            and next_attempt_at <= statement_timestamp()))
      order by next_at nulls first, id limit ${limit} for update skip locked)
    update billing.endpoints as endpoint
    set lease_token = ${token}::uuid, lease_until = statement_timestamp() + ${interval(lease)}
    from due where endpoint.id = due.id
    returning endpoint.*`.execute(db)
  return rows.map((row) => {
    const { secrets } = row
    return Object.assign(toEndpoint(row), { token, ahead: row.ahead.map(BigInt), secrets })
  })
}

/** What is known of an endpoint after some requests. */
export interface EndpointProgress {
  readonly position: bigint
  readonly ahead: readonly bigint[]
  readonly failures: number
  /** Since when it fails is written by the clock of the database, the first time. */
  readonly isFailing: boolean
  /** Nothing is to be sent for so long; undefined: at once. */
  readonly rest: Duration | undefined
}

/** Writes it, and extends the lease. False: the lease is lost, and nothing is written. */
export async function writeProgress(
  db: Kysely<Tables>,
  { id, token }: Pick<LeasedEndpoint, 'id' | 'token'>,
  { position, ahead, failures, isFailing, rest, lease }: EndpointProgress & { lease: Duration },
): Promise<boolean> {
  const since = isFailing ? sql`coalesce(failing_since, statement_timestamp())` : sql`null`
  const nextAt = rest === undefined ? sql`null` : sql`statement_timestamp() + ${interval(rest)}`
  const { rows } = await sql`
    update billing.endpoints set position = ${position}::bigint,
      ahead = ${ahead.map(String)}::bigint[], failures = ${failures}, failing_since = ${since},
      next_at = ${nextAt}, lease_until = statement_timestamp() + ${interval(lease)},
      updated_at = statement_timestamp()
    where id = ${id}::uuid and ${mine(token)} and enabled returning id`.execute(db)
  return rows.length === 1
}

/** False: the lease is lost. */
export async function extendEndpoint(
  db: Kysely<Tables>,
  { id, token }: Pick<LeasedEndpoint, 'id' | 'token'>,
  lease: Duration,
): Promise<boolean> {
  const { rows } = await sql`
    update billing.endpoints set lease_until = statement_timestamp() + ${interval(lease)}
    where id = ${id}::uuid and ${mine(token)} and enabled returning id`.execute(db)
  return rows.length === 1
}

/** For another process, or for later. */
export async function releaseEndpoint(
  db: Kysely<Tables>,
  { id, token }: Pick<LeasedEndpoint, 'id' | 'token'>,
): Promise<void> {
  await sql`update billing.endpoints set lease_token = null, lease_until = null
    where id = ${id}::uuid and ${mine(token)}`.execute(db)
}

/** Whether it has failed, and nothing else, for so long. */
export async function hasFailedFor(
  db: Kysely<Tables>,
  id: string,
  length: Duration,
): Promise<boolean> {
  const { rows } = await sql`select from billing.endpoints
    where id = ${id}::uuid and failing_since <= statement_timestamp() - ${interval(length)}`.execute(
    db,
  )
  return rows.length === 1
}

/** Whether there is any endpoint that something may be sent to. */
export async function anyEndpoint(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ any: boolean }>`
    select exists (select from billing.endpoints where enabled) as any`.execute(db)
  return rows[0]?.any === true
}
