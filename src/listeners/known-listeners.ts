import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { QuittanceError } from '../kernel/errors.ts'
import * as field from '../kernel/noun.ts'
import { listOf, type Noun, type Values, viewOf } from '../kernel/noun.ts'
import { shownTypes, type ListenerRegistry } from './listeners.ts'

const listenerFields = {
  name: field.text(),
  /** Types of events; `PaymentFailed:superseded` means that it hears of superseded ones too. */
  eventTypes: listOf(field.text(), { label: 'events' }),
  queued: field.flag({
    label: 'runs',
    toText: (queued) => (queued ? 'after the commit' : 'within the transaction'),
  }),
  /** This process has it, with all of its event types. */
  present: field.flag({ label: 'here' }),
  registeredAt: field.time({ label: 'known since' }),
}

/** A listener that some process registered, and that no process may go without. */
export interface KnownListener extends Values<typeof listenerFields> {}

export const listenerNoun: Noun<KnownListener> = {
  plural: 'listeners',
  facts: listenerFields,
  filters: {},
  columns: ['name', 'queued', 'present', 'eventTypes'],
  view: viewOf(listenerFields),
}

export async function listKnownListeners(
  db: Kysely<Tables>,
  registry: ListenerRegistry,
): Promise<readonly KnownListener[]> {
  const rows = await db.selectFrom('billing.listeners').selectAll().orderBy('name').execute()
  const present = new Set(registry.keys())
  return rows.map((row) => ({
    name: row.name,
    eventTypes: shownTypes(row.event_types),
    queued: row.queued,
    present: row.event_types.every((type) => present.has(`${row.name}/${type}`)),
    registeredAt: row.registered_at,
  }))
}

/** For a listener that was removed for good. */
export async function forgetListener(db: Kysely<Tables>, name: string): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom('billing.listeners')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  if (numDeletedRows === 1n) return
  throw new QuittanceError('listener_not_found', `no listener is known as ${JSON.stringify(name)}`)
}
