import { sql } from 'kysely'
import { count } from './people.ts'
import type { Play } from './open-play.ts'

type Db = Play['database']['db']

async function tablesOf(db: Db) {
  const { rows } = await sql<{ schema: string; name: string; columns: string }>`
    select table_schema as schema, table_name as name,
      string_agg(quote_ident(column_name), ', ') as columns
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema in ('billing', 'shop') and table_type = 'BASE TABLE'
      and is_generated = 'NEVER'
    group by table_schema, table_name`.execute(db)
  return rows
}

/** Keeps all that our database knows by now, and what listeners wrote; not the provider. */
export async function dump(play: Play): Promise<void> {
  count(play, 'dump')
  await play.database.transaction(async ({ db }) => {
    // All tables as they are at one time: workers go on. An embedded database waits for this anyway,
    // and would forget its simulated clock over any SET.
    if (play.proxy !== undefined) {
      await sql`set transaction isolation level repeatable read`.execute(db)
    }
    await sql`drop schema if exists dump cascade`.execute(db)
    await sql`create schema dump`.execute(db)
    for (const { schema, name } of await tablesOf(db)) {
      await sql`create table ${sql.id('dump', name)} as table ${sql.id(schema, name)}`.execute(db)
    }
  })
}

/** Our side forgets what came after the dump. */
export async function restore(play: Play): Promise<void> {
  count(play, 'restore')
  play.hasRestored = true
  for (;;) {
    try {
      return await restoreRows(play)
    } catch (error) {
      // Workers look for work all the time.
      if (!/deadlock/.test(String(error))) throw error
    }
  }
}

async function restoreRows(play: Play): Promise<void> {
  await play.database.transaction(async ({ db }) => {
    await sql`select set_config('session_replication_role', 'replica', true)`.execute(db)
    const tables = await tablesOf(db)
    const names = tables.map(({ schema, name }) => sql.id(schema, name))
    await sql`truncate ${sql.join(names)}`.execute(db)
    for (const { schema, name, columns } of tables) {
      const listed = sql.raw(columns)
      await sql`insert into ${sql.id(schema, name)} (${listed}) overriding system value
        select ${listed} from ${sql.id('dump', name)}`.execute(db)
    }
  })
}
