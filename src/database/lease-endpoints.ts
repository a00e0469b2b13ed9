import { sql, type Kysely, type Selectable } from 'kysely'
import type { Duration } from '../kernel/duration.ts'
import type { Endpoint } from '../events/endpoint.ts'
import { toEndpointRow, type EndpointRow } from './endpoints.ts'
import { interval } from './interval.ts'
import type { EndpointsTable } from './outbound-tables.ts'
import type { Tables } from './tables.ts'

/** An endpoint that is worked on by whoever holds its lease. */
export interface LeasedEndpoint extends EndpointRow {
  readonly token: string
  /** Dealt with beyond its position. */
  readonly ahead: readonly bigint[]
  /** As stored; null of one that is declared in the configuration. */
  readonly secrets: Uint8Array | null
  /** Of what is sent, and where: another one ends the work on it. */
  readonly revision: number
}

const mine = (token: string) => sql`lease_token = ${token}::uuid`

/**
 * Takes endpoints that have something to do: events beyond their position, or one that is due again.
 * Those that others hold are skipped. Of declared ones only those that are given, for their secrets are
 * in the configuration alone: one that is declared elsewhere, or with another URL, is of another
 * process.
 */
export async function takeEndpoints(
  db: Kysely<Tables>,
  options: {
    readonly limit: number
    readonly token: string
    readonly lease: Duration
    readonly declared: readonly Pick<Endpoint, 'name' | 'url'>[]
    /** By id: those that are left to others. */
    readonly except: readonly string[]
  },
): Promise<readonly LeasedEndpoint[]> {
  const { limit, token, lease, declared, except } = options
  const { rows } = await sql<Selectable<EndpointsTable>>`
    with due as materialized (
      select id from billing.endpoints as one
      where enabled and (next_at is null or next_at <= statement_timestamp())
        and (lease_until is null or lease_until <= statement_timestamp())
        and id <> all (${except}::uuid[])
        and (source = 'api' or (name, url) in (select * from unnest(
          ${declared.map(({ name }) => name)}::text[], ${declared.map(({ url }) => url)}::text[])))
        and (position < (select last_position from billing.feeds where name = 'events')
          or exists (select from billing.forwards where endpoint_id = one.id and state = 'pending'
            and next_attempt_at <= statement_timestamp()))
      order by next_at nulls first, id limit ${limit} for update skip locked)
    update billing.endpoints as endpoint
    set lease_token = ${token}::uuid, lease_until = statement_timestamp() + ${interval(lease)}
    from due where endpoint.id = due.id
    returning endpoint.*`.execute(db)
  return rows.map((row) => {
    const { secrets, revision } = row
    const ahead = row.ahead.map(BigInt)
    return Object.assign(toEndpointRow(row), { token, ahead, secrets, revision })
  })
}

/** What is known of an endpoint after some requests. */
export interface EndpointProgress {
  readonly position: bigint
  readonly ahead: readonly bigint[]
  /** The places of what was sent since the last time. */
  readonly sent: readonly bigint[]
  readonly failures: number
  /** Since when it fails is written by the clock of the database, the first time. */
  readonly isFailing: boolean
  /** Nothing is to be sent for so long; undefined: at once. */
  readonly rest: Duration | undefined
}

/**
 * Writes it, and extends the lease. `lost`: the lease is, and nothing is written; `changed`: it is
 * written, and nothing more is to be sent, for the endpoint was disabled, or is not what it was. Then
 * only what was sent counts: what was passed over may be wanted now.
 */
export async function writeProgress(
  db: Kysely<Tables>,
  { id, token, revision }: Pick<LeasedEndpoint, 'id' | 'token' | 'revision'>,
  progress: EndpointProgress & { readonly lease: Duration },
): Promise<'written' | 'lost' | 'changed'> {
  const { position, ahead, sent, failures, isFailing, rest, lease } = progress
  const since = isFailing
    ? sql`coalesce(failing_since, statement_timestamp())`
    : sql`null::timestamptz`
  const nextAt =
    rest === undefined ? sql`null::timestamptz` : sql`statement_timestamp() + ${interval(rest)}`
  // How it fared where it was says nothing of where it is now.
  const isSame = sql`revision = ${revision}`
  const { rows } = await sql<{ isSame: boolean }>`
    update billing.endpoints set
      position = case when ${isSame} then ${position}::bigint else position end,
      ahead = case when ${isSame} then ${ahead.map(String)}::bigint[]
        else ahead || ${sent.map(String)}::bigint[] end,
      failures = case when ${isSame} then ${failures} else failures end,
      failing_since = case when ${isSame} then ${since} else failing_since end,
      next_at = case when ${isSame} then ${nextAt} else next_at end,
      lease_until = statement_timestamp() + ${interval(lease)}, updated_at = statement_timestamp()
    where id = ${id}::uuid and ${mine(token)}
    returning enabled and ${isSame} as "isSame"`.execute(db)
  const [row] = rows
  if (row === undefined) return 'lost'
  return row.isSame ? 'written' : 'changed'
}

/** False: the lease is lost, or the endpoint disabled, or not what it was. */
export async function extendEndpoint(
  db: Kysely<Tables>,
  { id, token, revision }: Pick<LeasedEndpoint, 'id' | 'token' | 'revision'>,
  lease: Duration,
): Promise<boolean> {
  const { rows } = await sql`
    update billing.endpoints set lease_until = statement_timestamp() + ${interval(lease)}
    where id = ${id}::uuid and ${mine(token)} and enabled and revision = ${revision}
    returning id`.execute(db)
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
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from billing.endpoints where enabled) as found`.execute(db)
  return rows[0]?.found === true
}
