import { sql, type Kysely } from 'kysely'
import { named } from '../database/named-statements.ts'
import type { Tables } from '../database/tables.ts'
import type { BillingEvent } from '../events/catalogue.ts'
import type { NewId } from '../kernel/ids.ts'
import type { ListenerRegistry } from './listeners.ts'

interface DispatchedFrom {
  readonly events: readonly BillingEvent[]
  readonly queue: string
}

/** Writes the deliveries of events to their queued listeners. */
export async function queueDeliveries(
  db: Kysely<Tables>,
  dispatched: readonly DispatchedFrom[],
  { listeners, newId }: { readonly listeners: ListenerRegistry; readonly newId: NewId },
): Promise<void> {
  const rows = dispatched.flatMap(({ events, queue }) =>
    events.flatMap((event) =>
      listeners
        .of(event)
        .filter(({ queued }) => queued)
        .map(({ name }) => ({ eventId: event.id, listener: name, queue })),
    ),
  )
  if (rows.length === 0) return
  await sql`${named('queue-deliveries')}
    insert into billing.deliveries (id, event_id, listener, queue)
    select * from unnest(
      ${rows.map(() => newId())}::uuid[], ${rows.map(({ eventId }) => eventId)}::uuid[],
      ${rows.map(({ listener }) => listener)}::text[],
      ${rows.map(({ queue }) => queue)}::text[])`.execute(db)
}
