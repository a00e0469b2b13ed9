import { sql, type RawBuilder } from 'kysely'
import { snakeCase } from '../kernel/field-names.ts'
import { readUuid } from '../kernel/ids.ts'
import type { Filters } from '../kernel/noun.ts'

/** What a query asks of rows, where each filter has a column of its own. */
export function conditionsOf(filters: Filters, query: object): readonly RawBuilder<boolean>[] {
  const given = new Map<string, string>(Object.entries(query))
  return Object.entries(filters).flatMap(([name, { kind }]) => {
    const value = given.get(name)
    if (value === undefined) return []
    const column = sql.ref(snakeCase(name))
    // No row has an id that is no UUID.
    const sought = kind === 'id' ? sql`${readUuid(value) ?? null}::uuid` : sql`${value}`
    return [sql<boolean>`${column} = ${sought}`]
  })
}
