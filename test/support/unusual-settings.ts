import pg from 'pg'
import type { TestEngine } from './databases.ts'

/** What an owner may have set for a database, and changes what a statement means or a value looks like. */
export const unusualSettings: Readonly<Record<string, string>> = {
  array_nulls: 'off',
  backslash_quote: 'off',
  bytea_output: 'escape',
  client_encoding: 'LATIN1',
  DateStyle: 'German, DMY',
  default_transaction_deferrable: 'on',
  default_transaction_isolation: 'repeatable read',
  exit_on_error: 'on',
  extra_float_digits: '-15',
  gin_fuzzy_search_limit: '1',
  idle_in_transaction_session_timeout: '1',
  IntervalStyle: 'sql_standard',
  lock_timeout: '1',
  plan_cache_mode: 'force_generic_plan',
  quote_all_identifiers: 'on',
  row_security: 'off',
  search_path: '',
  standard_conforming_strings: 'off',
  statement_timeout: '1',
  synchronize_seqscans: 'on',
  synchronous_commit: 'local',
  TimeZone: 'Asia/Kathmandu',
  transform_null_equals: 'on',
  xmlbinary: 'hex',
}

/** Its databases have all of that set. */
export function unusual(engine: TestEngine): TestEngine {
  return {
    ...engine,
    async create() {
      const place = await engine.create()
      await alter(place.url ?? '', unusualSettings)
      return place
    },
  }
}

/** Holds for the connections that are opened from then on. */
export async function alter(
  url: string,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const name = client.escapeIdentifier(new URL(url).pathname.slice(1))
  const statements = Object.entries(settings).map(
    ([setting, value]) => `alter database ${name} set ${setting} to ${client.escapeLiteral(value)}`,
  )
  await client.query(statements.join(';'))
  await client.end()
}
