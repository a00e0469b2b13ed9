import { sql, type RawBuilder } from 'kysely'

/** Columns of a table and their types, as SQL names them. */
export type ColumnTypes<Table> = { readonly [Column in keyof Table]?: string }

/**
 * Rows as a table of a statement, `given`. Each column is one parameter, so the text of the statement is the
 * same for any number of rows.
 */
export function givenRows<Column extends string>(
  types: Readonly<Record<Column, string>>,
  rows: readonly Readonly<Record<Column, unknown>>[],
): RawBuilder<unknown> {
  const columns = Object.keys(types) as Column[]
  const arrays = columns.map(
    (column) => sql`${rows.map((row) => row[column])}::${sql.raw(types[column])}[]`,
  )
  return sql`unnest(${sql.join(arrays)}) as given (${sql.raw(columns.join(', '))})`
}
