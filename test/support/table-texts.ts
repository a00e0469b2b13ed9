import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'

/** Everything that our tables hold, as text, by the name of the table. */
export async function tableTexts({ db }: Database): Promise<ReadonlyMap<string, string>> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'billing' and table_type = 'BASE TABLE'`.execute(db)
  const texts = new Map<string, string>()
  for (const { name } of tables) {
    const { rows } = await sql<{ text: string | null }>`
      select string_agg(one::text, ${'\n'}) as text
      from ${sql.id('billing', name)} as one`.execute(db)
    texts.set(name, rows[0]?.text ?? '')
  }
  return texts
}
