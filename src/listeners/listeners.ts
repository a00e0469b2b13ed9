import { sql, type Kysely } from 'kysely'
import { missingListeners } from '../database/missing-listeners.ts'
import type { Tables } from '../database/tables.ts'
import type { EventType } from '../events/catalogue.ts'
import { isSubscriptionEventType } from '../events/event-data.ts'
import { isQuittanceError, QuittanceError } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'

export interface RegisteredListener {
  readonly name: string
  /** What it listens to, each once. */
  readonly types: readonly EventType[]
  readonly queued: boolean
  /** It also hears of superseded events. */
  readonly superseded: boolean
  readonly run: (event: never, context: never) => unknown
}

/** The listeners of this process, by event type and by name. */
export interface ListenerRegistry {
  /** Error: `listener_duplicate`. */
  add(listener: RegisteredListener): void
  /** What each of these runs from now on; there is one of its name. */
  replace(listeners: readonly RegisteredListener[]): void
  /** The listeners of this event. */
  of(event: Addressed): readonly RegisteredListener[]
  find(name: string, type: string): RegisteredListener | undefined
  all(): readonly RegisteredListener[]
  /** `name/type` of each, and `name/type:superseded` of those that also hear of such events. */
  keys(): readonly string[]
  /** What queued ones get as their billing: the operations of this process. */
  billing?: unknown
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
      const known = listeners.find(({ name }) => name === listener.name)
      if (known !== undefined) throw duplicate(known, listener)
      listeners.push(listener)
    },
    replace(others) {
      for (const other of others) {
        listeners[listeners.findIndex(({ name }) => name === other.name)] = other
      }
    },
    of: ({ type, superseded = false }) =>
      listeners.filter((one) => one.types.includes(type) && (one.superseded || !superseded)),
    find: (name, type) =>
      listeners.find((one) => one.name === name && one.types.some((own) => own === type)),
    all: () => listeners,
    keys: () => listeners.flatMap((one) => knownTypesOf(one).map((type) => `${one.name}/${type}`)),
  }
}

function duplicate(known: RegisteredListener, added: RegisteredListener): QuittanceError {
  const [first, second] = [known, added].map(({ types }) => types.join(', '))
  return new QuittanceError(
    'listener_duplicate',
    `two listeners have the name ${added.name}: one of ${first}, one of ${second}`,
  )
}

/**
 * How the database knows a listener. Superseded events are a type of their own there: a process
 * that would not dispatch them to this listener lacks it, even if its version does not know of
 * them. So are events of subscriptions: a version that cannot load them lacks their listeners, even
 * if the app registered them before anything fired these events.
 */
function knownTypesOf({ types, superseded }: RegisteredListener): readonly string[] {
  return types.flatMap((type) => [
    type,
    ...(superseded ? [`${type}:superseded`] : []),
    ...(isSubscriptionEventType(type) ? [`${type}:loaded`] : []),
  ])
}

/** Keys or types as people read them: that a version can load an event concerns processes alone. */
export function shownTypes(known: readonly string[]): readonly string[] {
  return [...new Set(known.map((one) => one.replace(/:loaded(?=\)?$)/, '')))]
}

/**
 * Writes this process's listeners into the database and refuses if others are known there: an event
 * claimed by a process that lacks a listener would never reach it.
 */
export async function registerListeners(
  db: Kysely<Tables>,
  registry: ListenerRegistry,
): Promise<void> {
  for (const listener of registry.all()) {
    const { name, queued } = listener
    const types = [...knownTypesOf(listener)]
    const { event_types: known } = await db
      .insertInto('billing.listeners')
      .values({ name, event_types: types, queued })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ queued }))
      .returning('event_types')
      .executeTakeFirstOrThrow()
    // Types are only added. During a rollout a process with the previous configuration may restart,
    // and must not hide the types of the next one.
    for (const type of types.filter((one) => !known.includes(one))) {
      await sql`update billing.listeners set event_types = array_append(event_types, ${type}::text)
        where name = ${name} and ${type}::text <> all(event_types)`.execute(db)
    }
  }
  await requireAllListeners(db, registry)
}

/** Warns of names that say nothing to those who meet them in the database. */
export function warnOfShortNames(registry: ListenerRegistry, log: Log): void {
  for (const { name } of registry.all()) {
    if (!isShortName(name)) continue
    log.warn(
      { listener: name },
      'a listener has a name of one or two letters: give it a longer one',
    )
  }
}

/** As a minifier makes them: the next build may give it to another listener. */
export function isShortName(name: string): boolean {
  return name.length <= 2
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
  const names = shownTypes(missing).join(', ')
  return new QuittanceError(
    'listener_missing',
    `this process lacks the listener(s) ${names}: events that it claims would never reach them`,
  )
}

/** Another process has what this one lacks: it will do what is refused here. */
export function isListenerMissing(error: unknown): error is QuittanceError {
  return isQuittanceError(error) && error.code === 'listener_missing'
}
