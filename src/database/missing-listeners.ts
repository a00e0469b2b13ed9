import { sql, type RawBuilder } from 'kysely'

/**
 * Listeners (`name`, `type`) that some process registered and that are not among the keys
 * (`name/type` each) of this one. Every statement that takes work or claims an event contains this
 * condition: between a check and a claim, another process may register a listener.
 */
export function missingListeners(keys: readonly string[]): RawBuilder<unknown> {
  return sql`select name, type from billing.listeners, unnest(event_types) as type
    where name || '/' || type <> all(${[...keys]}::text[])`
}
