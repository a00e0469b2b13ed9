import { sql, type RawBuilder } from 'kysely'
import type { FieldKind } from '../kernel/noun.ts'

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

const types: Readonly<Partial<Record<FieldKind, string>>> = {
  id: 'uuid',
  text: 'text',
  choice: 'text',
  flag: 'boolean',
  minor_units: 'bigint',
  object: 'json',
  time: 'timestamptz',
}

/** The type of the column of a field. */
export function typeOfKind(kind: FieldKind): string {
  const type = types[kind]
  if (type === undefined) throw new Error(`no column holds a ${kind}`)
  return type
}
