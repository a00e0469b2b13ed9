import { sql, type Kysely } from 'kysely'
import { missingListeners } from '../database/missing-listeners.ts'
import type { Tables } from '../database/tables.ts'
import {
  eventTypes,
  eventTypesWithoutProducer,
  isEventType,
  type EventType,
} from '../events/catalogue.ts'
import { isQuittanceError, QuittanceError } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import type { Listener, QueuedListener } from './listener.ts'

export interface RegisteredListener<T extends EventType = EventType> {
  readonly name: string
  readonly type: T
  readonly queued: boolean
  /** It also hears of superseded events. */
  readonly superseded: boolean
  readonly run: Listener<T> | QueuedListener<T>
}

/** The listeners of this process, by event type and by name. */
export interface ListenerRegistry {
  add<T extends EventType>(listener: RegisteredListener<T>): void
  /** The listeners of this event. */
  of(event: Addressed): readonly RegisteredListener[]
  find(name: string, type: string): RegisteredListener | undefined
  names(): readonly string[]
  /** `name/type` of each, and `name/type:superseded` of those that also hear of such events. */
  keys(): readonly string[]
}

/** What decides which listeners an event has. */
export interface Addressed {
  readonly type: EventType
  readonly superseded?: boolean
}

export function createListenerRegistry(): ListenerRegistry {
  const listeners: RegisteredListener[] = []
  return {
    add(listener) {
      check(listener, listeners)
      listeners.push(listener as unknown as RegisteredListener)
    },
    of: ({ type, superseded = false }) =>
      listeners.filter((one) => one.type === type && (one.superseded || !superseded)),
    find: (name, type) =>
      listeners.find((listener) => listener.name === name && listener.type === type),
    names: () => [...new Set(listeners.map((listener) => listener.name))],
    keys: () =>
      listeners.flatMap((one) => subscriptionsOf(one).map((type) => `${one.name}/${type}`)),
  }
}

/**
 * How the database knows a listener. Superseded events are a type of their own there: a process
 * that would not dispatch them to this listener lacks it, even if its version does not know of
 * them.
 */
function subscriptionsOf({ type, superseded }: Required<Addressed>): readonly string[] {
  return superseded ? [type, `${type}:superseded`] : [type]
}

/** Error: `listener_unnamed`. */
export function requireName({
  name,
  type,
}: {
  readonly name: string
  readonly type: string
}): void {
  if (name !== '') return
  throw new QuittanceError('listener_unnamed', `a listener of ${type} has no name`)
}

/** One name may listen to several events, but to each once, and in one manner. */
function check(
  added: { name: string; type: string; queued: boolean },
  present: readonly RegisteredListener[],
): void {
  if (!isEventType(added.type)) {
    throw new QuittanceError('event_type_unknown', `there is no event ${added.type}`)
  }
  requireName(added)
  const clash = present.some(
    (known) =>
      known.name === added.name && (known.type === added.type || known.queued !== added.queued),
  )
  if (clash) {
    throw new QuittanceError(
      'listener_duplicate',
      `the name ${added.name} is taken by another listener of ${added.type}`,
    )
  }
}

/**
 * Writes this process's listeners into the database and refuses if others are known there: an event
 * claimed by a process that lacks a listener would never reach it.
 */
export async function registerListeners(
  db: Kysely<Tables>,
  registry: ListenerRegistry,
): Promise<void> {
  for (const name of registry.names()) {
    const registered = registeredListeners(registry, name)
    const queued = eventTypes.some((type) => registry.find(name, type)?.queued === true)
    await db
      .insertInto('billing.listeners')
      .values({ name, event_types: registered.flatMap(subscriptionsOf), queued })
      .onConflict((conflict) =>
        conflict.column('name').doUpdateSet({
          queued,
          // Types are only added: an older process that restarts must not hide what a newer one
          // has.
          event_types: sql<string[]>`array(
            select distinct unnest(listeners.event_types || excluded.event_types) order by 1)`,
        }),
      )
      .execute()
  }
  await requireAllListeners(db, registry)
}

/** Warns of listeners that nothing calls yet; they are allowed, to be deployed ahead of their events. */
export function warnOfNeverCalled(registry: ListenerRegistry, log: Log): void {
  for (const type of eventTypesWithoutProducer) {
    for (const { name } of registry.of({ type })) {
      log.warn(
        { listener: name, event: type },
        'a listener waits for an event that nothing fires yet',
      )
    }
  }
}

export async function requireAllListeners(
  db: Kysely<Tables>,
  registry: ListenerRegistry,
): Promise<void> {
  const { rows } = await sql<{ name: string; type: string }>`
    ${missingListeners(registry.keys())} order by 1, 2`.execute(db)
  if (rows.length > 0) throw listenerMissing(rows.map(({ name, type }) => `${name} (${type})`))
}

export function listenerMissing(missing: readonly string[]): QuittanceError {
  const names = missing.join(', ')
  return new QuittanceError(
    'listener_missing',
    `this process lacks the listener(s) ${names}: events that it claims would never reach them`,
  )
}

/** Another process has what this one lacks: it will do what is refused here. */
export function isListenerMissing(error: unknown): error is QuittanceError {
  return isQuittanceError(error) && error.code === 'listener_missing'
}

function registeredListeners(registry: ListenerRegistry, name: string) {
  return eventTypes.flatMap((type) => registry.find(name, type) ?? [])
}
