import type { QueryExecutorProvider } from 'kysely'
import * as schema from './0001_schema.ts'

export interface Migration {
  up(db: QueryExecutorProvider): Promise<void>
}

/** All migrations by name, in order; a static list, so that no file system look-up is needed. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001_schema': schema,
}
