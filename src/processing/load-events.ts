import { sql, type Kysely, type Selectable } from 'kysely'
import { named } from '../database/named-statements.ts'
import type { EventsTable, Tables } from '../database/tables.ts'
import { isEventType, type BillingEvent } from '../events/catalogue.ts'
import { aboutOf, aboutOfUnknown, carriedBy, type EventAbout } from './event-subject.ts'
import { loadSubjects, type LoadContext, type Subjects } from './load-subjects.ts'

/** What an event is loaded from. */
export type EventRow = Pick<
  Selectable<EventsTable>,
  | 'id'
  | 'dedup_key'
  | 'type'
  | 'payment_id'
  | 'payment_method_id'
  | 'subscription_id'
  | 'invoice_id'
  | 'superseded'
  | 'data'
  | 'created_at'
>

/** An event as its queued listeners get it, or why it cannot be read: others can. */
export type LoadedEvent = { readonly event: BillingEvent } | { readonly error: unknown }

/** The same with the id of the call that brought it, if one did. */
export type FoundEvent = LoadedEvent & { readonly callId: string | null }

/** Events as their queued listeners get them, in the order of the ids; undefined: it is gone. */
export async function loadEvents(
  db: Kysely<Tables>,
  ids: readonly string[],
  context: LoadContext,
): Promise<readonly (FoundEvent | undefined)[]> {
  const { rows } = await sql<
    EventRow & Pick<EventsTable, 'webhook_call_id'>
  >`${named('load-events')}
    select id, dedup_key, type, payment_id, payment_method_id, subscription_id, invoice_id,
      webhook_call_id, superseded, data, created_at
    from billing.events where id = any(${[...ids]}::uuid[])`.execute(db)
  const loaded = await loadRows(db, rows, context)
  const events = new Map(
    rows.map(({ id, webhook_call_id: callId }, index) => {
      const one = loaded[index]
      return [id, one && { ...one, callId }]
    }),
  )
  return ids.map((id) => events.get(id))
}

/** The events of rows, in their order. What they are about is read as it stands. */
export async function loadRows(
  db: Kysely<Tables>,
  rows: readonly EventRow[],
  context: LoadContext,
): Promise<readonly LoadedEvent[]> {
  const read = rows.map(readRow)
  const needed = read.flatMap((one) => ('error' in one ? [] : [one.about.ids]))
  const subjects = await loadSubjects(db, needed, context)
  return read.map((one) => toEvent(one, subjects, context))
}

interface ReadRow {
  readonly row: EventRow
  readonly about: EventAbout
}

type Unreadable = { readonly error: unknown }

function readRow(row: EventRow): ReadRow | Unreadable {
  try {
    return { row, about: isEventType(row.type) ? aboutOf(row) : aboutOfUnknown(row) }
  } catch (error) {
    return { error }
  }
}

function toEvent(one: ReadRow | Unreadable, subjects: Subjects, context: LoadContext): LoadedEvent {
  if ('error' in one) return one
  const { id, type, dedup_key: dedupKey, superseded, created_at: createdAt } = one.row
  const head = { id, type, dedupKey, superseded, createdAt }
  try {
    const carried = carriedBy(one.about, subjects, context)
    // Which of what it stores is carried, only its own version knows.
    const stored = isEventType(type) ? {} : one.about.facts
    return { event: { ...stored, ...carried, ...head } as unknown as BillingEvent }
  } catch (error) {
    return { error }
  }
}
