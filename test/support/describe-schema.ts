import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'

interface Line {
  readonly tablename: string
  readonly line: string
}

/** What the catalogue of any PostgreSQL from 15 on says about our schema, in a fixed order. */
export async function describeSchema({ db }: Database): Promise<string> {
  const columns = await sql<Line>`
    select class.relname as tablename,
      format('  %s %s%s%s%s', attname, format_type(atttypid, atttypmod),
        case when attstorage <> typstorage then format(' storage %s', attstorage) else '' end,
        case when attnotnull then ' not null' else '' end,
        coalesce(case attgenerated when 's' then ' generated ' else ' default ' end ||
          pg_get_expr(adbin, adrelid), '')) as line
    from pg_attribute
    join pg_class class on class.oid = attrelid
    join pg_type on pg_type.oid = atttypid
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where relnamespace = 'billing'::regnamespace and relkind = 'r'
      and attnum > 0 and not attisdropped
    order by class.relname, attnum`.execute(db)
  // From 18 on, "not null" is a constraint too; the columns say it already.
  const constraints = await sql<Line>`
    select class.relname as tablename,
      format('  constraint %s %s', conname, pg_get_constraintdef(pg_constraint.oid)) as line
    from pg_constraint join pg_class class on class.oid = conrelid
    where connamespace = 'billing'::regnamespace and contype <> 'n'
    order by class.relname, conname`.execute(db)
  const indexes = await sql<Line>`
    select tablename, '  ' || indexdef as line from pg_indexes
    where schemaname = 'billing' order by tablename, indexname`.execute(db)
  const lines = [...columns.rows, ...constraints.rows, ...indexes.rows]
  const tables = [...new Set(lines.map(({ tablename }) => tablename))].sort()
  return tables
    .map((table) => {
      const own = lines.filter(({ tablename }) => tablename === table).map(({ line }) => line)
      return `billing.${table}\n${own.join('\n')}\n`
    })
    .join('\n')
}
