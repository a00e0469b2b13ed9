import { sql, type Selectable } from 'kysely'
import type { Endpoint } from '../events/endpoint.ts'
import type { EndpointsTable } from './outbound-tables.ts'

/** What is read of an endpoint besides its columns. */
interface Standing {
  readonly behind: bigint
  readonly oldest_at: Date | null
}

/** How far it is behind the feed, and since when: each is one look into an index. */
export const standing = [
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

/** An endpoint without how far it is behind, which whoever works on it changes. */
export type EndpointRow = Omit<Endpoint, 'behind' | 'oldestAt'>

/** Of a row that was read with that. */
export function toEndpoint(row: Selectable<EndpointsTable> & Standing): Endpoint {
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
