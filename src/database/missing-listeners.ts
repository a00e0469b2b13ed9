import { sql, type RawBuilder } from 'kysely'

/**
 * Listeners (`name`, `type`) that some process registered and that are not among the keys
 * (`name/type` each) of this one. Whatever takes work or claims an event has this as a condition of
 * the same statement: between a look and a claim another process may register one.
 */
export function missingListeners(keys: readonly string[]): RawBuilder<unknown> {
  return sql`select name, type from billing.listeners, unnest(event_types) as type
    where name || '/' || type <> all(${[...keys]}::text[])`
}
