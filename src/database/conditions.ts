import { sql, type RawBuilder } from 'kysely'
import { snakeCase } from '../kernel/field-names.ts'
import { readUuid } from '../kernel/uuid.ts'
import type { Filters, FilterValues } from '../kernel/noun.ts'

/** How filters ask that have no column of their own. */
export type Asked<F extends Filters> = {
  readonly [Name in keyof F]?: (value: Required<FilterValues<F>>[Name]) => RawBuilder<boolean>
}

/** The conditions of a query. A filter compares the column of its name, unless `asked` has its own SQL. */
export function conditionsOf<F extends Filters>(
  filters: F,
  query: FilterValues<F>,
  asked: Asked<F> = {},
): readonly RawBuilder<boolean>[] {
  return Object.entries(filters).flatMap(([name, { kind }]) => {
    // A query may have it from its class.
    const { [name]: value } = query as Readonly<Record<string, unknown>>
    if (value === undefined) return []
    const own = asked[name]
    if (own !== undefined) return [sql<boolean>`(${own(value as never)})`]
    if (kind === 'payable') return [ofPayable(name, value as never)]
    const column = sql.ref(snakeCase(name))
    // No row has an id that is no UUID.
    const sought = kind === 'id' ? sql`${readUuid(value) ?? null}::uuid` : sql`${value}`
    return [sql<boolean>`${column} = ${sought}`]
  })
}

function ofPayable(
  name: string,
  { type, id }: { readonly type: string; readonly id: string },
): RawBuilder<boolean> {
  return sql`${sql.ref(`${name}_type`)} = ${type} and ${sql.ref(`${name}_id`)} = ${id}`
}
