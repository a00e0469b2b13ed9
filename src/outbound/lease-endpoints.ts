import { sql, type Kysely, type Selectable } from 'kysely'
import { toEndpointRow, type EndpointRow } from '../database/endpoints.ts'
import { interval } from '../database/interval.ts'
import type { EndpointsTable } from '../database/outbound-tables.ts'
import type { Tables } from '../database/tables.ts'
import type { Endpoint } from '../events/endpoint.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Lease, TimedTable } from '../leases/leased-table.ts'
import { endLeases, keepLease, takeDue, type Take } from '../leases/leases.ts'

/** An endpoint that is worked on by whoever holds its lease. */
export interface LeasedEndpoint extends EndpointRow, Lease {
  /** Dealt with beyond its position. */
  readonly ahead: readonly bigint[]
  /** As stored; null of one that is declared in the configuration. */
  readonly secrets: Uint8Array | null
  /** Of what is sent, and where: another one ends the work on it. */
  readonly revision: number
}

/** Which endpoints this process may take. */
interface DueEndpoints {
  /** With their URLs: one that is declared elsewhere, or with another URL, is of another process. */
  readonly declared: readonly Pick<Endpoint, 'name' | 'url'>[]
  /** By id: those that are left to others. */
  readonly except: readonly string[]
}

/** A lease is for so long, and extended after a third of it at the latest. */
export const endpointLease: Duration = seconds(30)

/**
 * Endpoints that have something to do: events beyond their position, or one that is due again. Of
 * declared ones only those that are given, for their secrets are in the configuration alone.
 */
const endpoints: TimedTable<Lease & Selectable<EndpointsTable>, DueEndpoints> = {
  name: 'billing.endpoints',
  length: endpointLease,
  columns: sql`row.*`,
  due: ({ declared, except }) => sql`
    enabled and (next_at is null or next_at <= statement_timestamp())
    and id <> all (${except}::uuid[])
    and (source = 'api' or (name, url) in (select * from unnest(
      ${declared.map(({ name }) => name)}::text[], ${declared.map(({ url }) => url)}::text[])))
    and (position < (select last_position from billing.feeds where name = 'events')
      or exists (select from billing.forwards where endpoint_id = due.id and state = 'pending'
        and next_attempt_at <= statement_timestamp()))
    order by next_at nulls first, id`,
}

/** Takes those that are due; those that others hold are skipped. */
export async function takeEndpoints(
  db: Kysely<Tables>,
  { limit, token, ...asked }: Take & DueEndpoints,
): Promise<readonly LeasedEndpoint[]> {
  const rows = await takeDue(db, endpoints, { asked, limit, token })
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
  endpoint: Pick<LeasedEndpoint, 'id' | 'token' | 'revision'>,
  { position, ahead, sent, failures, isFailing, rest }: EndpointProgress,
): Promise<'written' | 'lost' | 'changed'> {
  // LEAST passes over null: the first failure counts.
  const since = isFailing ? sql`least(failing_since, statement_timestamp())` : sql`null`
  const nextAt = rest === undefined ? sql`null` : sql`statement_timestamp() + ${interval(rest)}`
  const written = await keepLease<{ enabled: boolean }>(db, endpoints, {
    lease: endpoint,
    isStill: sql`revision = ${endpoint.revision}`,
    set: sql`position = ${position}::bigint, ahead = ${ahead.map(String)}::bigint[],
      failures = ${failures}, failing_since = ${since}, next_at = ${nextAt},
      updated_at = statement_timestamp()`,
    returning: sql`enabled`,
  })
  if (written !== undefined) return written.enabled ? 'written' : 'changed'
  // How it fared where it was says nothing of where it is now.
  const changed = await keepLease(db, endpoints, {
    lease: endpoint,
    set: sql`ahead = ahead || ${sent.map(String)}::bigint[], updated_at = statement_timestamp()`,
    returning: sql<object>`row.id`,
  })
  return changed === undefined ? 'lost' : 'changed'
}

/** False: the lease is lost, or the endpoint disabled, or not what it was. */
export async function extendEndpoint(
  db: Kysely<Tables>,
  endpoint: Pick<LeasedEndpoint, 'id' | 'token' | 'revision'>,
): Promise<boolean> {
  const isStill = sql`enabled and revision = ${endpoint.revision}`
  const kept = { lease: endpoint, isStill, returning: sql<object>`row.id` }
  return (await keepLease(db, endpoints, kept)) !== undefined
}

/** For another process, or for later. */
export async function releaseEndpoint(db: Kysely<Tables>, lease: Lease): Promise<void> {
  await endLeases(db, endpoints, { leases: [lease] })
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
