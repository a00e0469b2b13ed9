import {
  sql,
  type InsertQueryBuilder,
  type UpdateQueryBuilder,
  type Kysely,
  type RawBuilder,
  type Selectable,
} from 'kysely'
import type { DisabledReason, Endpoint } from '../events/endpoint.ts'
import type { EndpointsTable } from './outbound-tables.ts'
import type { Tables } from './tables.ts'

/** What is written of a new endpoint. */
export interface NewEndpoint extends Pick<
  Endpoint,
  | 'id'
  | 'name'
  | 'source'
  | 'url'
  | 'description'
  | 'eventTypes'
  | 'gateways'
  | 'payload'
  | 'maxConcurrency'
  | 'ratePerSecond'
  | 'timeoutSeconds'
> {
  /** Encrypted; null of one that is declared in the configuration. */
  readonly secrets: Uint8Array | null
  /** Events beyond it are sent. */
  readonly position: bigint
}

/** What its operator, or the configuration, says of an endpoint. */
export type EndpointSettings = Omit<NewEndpoint, 'id' | 'source' | 'position' | 'secrets'>

export type EndpointChanges = {
  readonly [Name in keyof EndpointSettings]?: EndpointSettings[Name] | undefined
}

/** Undefined: one of this name exists. */
export async function insertEndpoint(
  db: Kysely<Tables>,
  endpoint: NewEndpoint,
): Promise<Endpoint | undefined> {
  const row = await withLag(
    db,
    db
      .insertInto('billing.endpoints')
      .values({
        ...columnsOf(endpoint),
        id: endpoint.id,
        source: endpoint.source,
        secrets: endpoint.secrets && Buffer.from(endpoint.secrets),
        position: endpoint.position,
      })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .returningAll(),
  )
  return row && toEndpoint(row)
}

/** A declared one as it is declared now; where it has read to stays. */
export async function upsertDeclared(db: Kysely<Tables>, endpoint: NewEndpoint): Promise<void> {
  const { name: _name, ...changed } = columnsOf(endpoint)
  await db
    .insertInto('billing.endpoints')
    .values({
      ...columnsOf(endpoint),
      id: endpoint.id,
      source: 'config',
      position: endpoint.position,
    })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet({
        ...changed,
        ...healthBeside(sql.ref('excluded.url')),
        source: 'config',
        secrets: null,
        revision: sql<number>`endpoints.revision + (
          case when ${rowOf('endpoints')} is distinct from ${rowOf('excluded')} then 1 else 0 end)`,
        updated_at: sql.ref('excluded.updated_at'),
      }),
    )
    .execute()
}

export async function updateEndpoint(
  db: Kysely<Tables>,
  id: string,
  changes: EndpointChanges,
): Promise<Endpoint | undefined> {
  const row = await withLag(
    db,
    db
      .updateTable('billing.endpoints')
      .set({
        ...definedColumns(changes),
        ...(changes.url !== undefined && healthBeside(changes.url)),
        revision: nextRevision,
        updated_at: sql<Date>`statement_timestamp()`,
      })
      .where('id', '=', id)
      .returningAll(),
  )
  return row && toEndpoint(row)
}

export async function writeSecrets(
  db: Kysely<Tables>,
  id: string,
  secrets: Uint8Array,
): Promise<void> {
  await db
    .updateTable('billing.endpoints')
    .set({
      secrets: Buffer.from(secrets),
      revision: nextRevision,
      updated_at: sql<Date>`statement_timestamp()`,
    })
    .where('id', '=', id)
    .execute()
}

/** As stored; null of one that is declared in the configuration. */
export async function readStoredSecrets(
  db: Kysely<Tables>,
  id: string,
): Promise<Uint8Array | null> {
  const { secrets } = await db
    .selectFrom('billing.endpoints')
    .select('secrets')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return secrets
}

/** The same, and nobody else writes them until the transaction ends; undefined: it is gone. */
export async function holdStoredSecrets(
  db: Kysely<Tables>,
  id: string,
): Promise<Uint8Array | null | undefined> {
  const row = await db
    .selectFrom('billing.endpoints')
    .select('secrets')
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row?.secrets
}

/** Nobody writes anything of it any more. What it was sent, which may be much, is pruned. */
export async function deleteEndpoint(db: Kysely<Tables>, id: string): Promise<void> {
  await sql`delete from billing.endpoints where id = ${id}::uuid`.execute(db)
}

/** By id, or by name. */
export async function findEndpoint(
  db: Kysely<Tables>,
  by: { readonly id: string } | { readonly name: string },
): Promise<Endpoint | undefined> {
  const row = await db
    .selectFrom('billing.endpoints')
    .selectAll()
    .select(lagColumns)
    .where('id' in by ? 'id' : 'name', '=', 'id' in by ? by.id : by.name)
    .executeTakeFirst()
  return row && toEndpoint(row)
}

export async function listEndpoints(db: Kysely<Tables>): Promise<readonly Endpoint[]> {
  const rows = await db
    .selectFrom('billing.endpoints')
    .selectAll()
    .select(lagColumns)
    .orderBy('name')
    .execute()
  return rows.map(toEndpoint)
}

/** Where an endpoint reads on: there; or there at the latest, so that it misses nothing. */
export type ReadOn = { readonly from: bigint } | { readonly fromAtMost: bigint }

/**
 * Begins anew: whoever holds it writes what was sent, and no more. With a place it reads on from
 * there, what it had delivered beyond is sent again, and whoever holds it writes nothing.
 */
export async function enableEndpoint(
  db: Kysely<Tables>,
  id: string,
  place?: ReadOn,
): Promise<Endpoint | undefined> {
  const row = await withLag(
    db,
    db
      .updateTable('billing.endpoints')
      .set({
        enabled: true,
        disabled_reason: null,
        disabled_at: null,
        failures: 0,
        failing_since: null,
        next_at: null,
        revision: nextRevision,
        updated_at: sql<Date>`statement_timestamp()`,
        ...(place !== undefined && {
          position:
            'from' in place
              ? place.from
              : sql<bigint>`least(position, ${place.fromAtMost}::bigint)`,
          ahead: sql<bigint[]>`'{}'`,
          lease_token: null,
          lease_until: null,
        }),
      })
      .where('id', '=', id)
      .returningAll(),
  )
  return row && toEndpoint(row)
}

/**
 * Undefined: it is disabled already. Whoever holds it writes what was delivered until then, and nothing
 * more is begun.
 */
export async function disableEndpoint(
  db: Kysely<Tables>,
  id: string,
  reason: DisabledReason,
): Promise<Endpoint | undefined> {
  const row = await withLag(
    db,
    db
      .updateTable('billing.endpoints')
      .set({
        enabled: false,
        disabled_reason: reason,
        disabled_at: sql<Date>`statement_timestamp()`,
        next_at: null,
        updated_at: sql<Date>`statement_timestamp()`,
      })
      .where('id', '=', id)
      .where('enabled', '=', true)
      .returningAll(),
  )
  return row && toEndpoint(row)
}

/** What of a declared one is sent, and where. */
function rowOf(table: 'endpoints' | 'excluded') {
  const columns = ['source', 'url', 'event_types', 'gateways', 'payload', 'max_concurrency']
  const all = [...columns, 'rate_per_second', 'timeout_seconds']
  return sql`(${sql.join(all.map((column) => sql.ref(`${table}.${column}`)))})`
}

/** How it fares, beside a URL that it gets: how it fared at another one says nothing. */
function healthBeside(url: string | RawBuilder<unknown>) {
  const isSame = sql`endpoints.url = ${url}`
  return {
    failures: sql<number>`case when ${isSame} then endpoints.failures else 0 end`,
    failing_since: sql<Date | null>`case when ${isSame} then endpoints.failing_since end`,
    next_at: sql<Date | null>`case when ${isSame} then endpoints.next_at end`,
  }
}

const nextRevision = sql<number>`endpoints.revision + 1`

function columnsOf(endpoint: NewEndpoint) {
  return {
    name: endpoint.name,
    url: endpoint.url,
    description: endpoint.description,
    event_types: endpoint.eventTypes && [...endpoint.eventTypes],
    gateways: endpoint.gateways && [...endpoint.gateways],
    payload: endpoint.payload,
    max_concurrency: endpoint.maxConcurrency,
    rate_per_second: endpoint.ratePerSecond,
    timeout_seconds: endpoint.timeoutSeconds,
  }
}

function definedColumns(changes: EndpointChanges) {
  const columns = columnsOf(changes as NewEndpoint)
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}

/** What is read of an endpoint besides its columns. */
interface Lag {
  readonly behind: bigint
  readonly oldest_at: Date | null
}

/** How far it is behind the feed, and since when: each is one look into an index. */
const lagColumns = [
  sql<bigint>`greatest(0,
    (select last_position from billing.feeds where name = 'events') - endpoints.position)`.as(
    'behind',
  ),
  sql<Date | null>`least(
    (select event.created_at from billing.events as event
      where event.position > endpoints.position order by event.position limit 1),
    (select event.created_at from billing.events as event where event.id = (
      select event_id from billing.forwards
      where endpoint_id = endpoints.id and state = 'pending' order by position limit 1)))`.as(
    'oldest_at',
  ),
] as const

/** The row that a statement writes, with how far the endpoint is behind. */
function withLag(
  db: Kysely<Tables>,
  writing:
    | InsertQueryBuilder<Tables, 'billing.endpoints', Selectable<EndpointsTable>>
    | UpdateQueryBuilder<
        Tables,
        'billing.endpoints',
        'billing.endpoints',
        Selectable<EndpointsTable>
      >,
): Promise<(Selectable<EndpointsTable> & Lag) | undefined> {
  return db
    .with('endpoints', () => writing)
    .selectFrom('endpoints')
    .selectAll()
    .select(lagColumns)
    .executeTakeFirst()
}

/** An endpoint without how far it is behind, which whoever works on it changes. */
export type EndpointRow = Omit<Endpoint, 'behind' | 'oldestAt'>

/** Of a row that was read with that. */
function toEndpoint(row: Selectable<EndpointsTable> & Lag): Endpoint {
  return { ...toEndpointRow(row), behind: Number(row.behind), oldestAt: row.oldest_at }
}

export function toEndpointRow(row: Selectable<EndpointsTable>): EndpointRow {
  return {
    id: row.id,
    name: row.name,
    source: row.source,
    url: row.url,
    description: row.description,
    eventTypes: row.event_types,
    gateways: row.gateways,
    payload: row.payload,
    maxConcurrency: row.max_concurrency,
    ratePerSecond: row.rate_per_second,
    timeoutSeconds: row.timeout_seconds,
    enabled: row.enabled,
    disabledReason: row.disabled_reason,
    disabledAt: row.disabled_at,
    position: Number(row.position),
    failures: row.failures,
    failingSince: row.failing_since,
    nextAt: row.next_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
