import type { Database } from '../../src/database/connect.ts'
import { defaultSchema } from '../../src/database/schema.ts'
import { setVariable } from './set-variable.ts'

/** Where the tables are in this test run: most runs take the default. */
export const testSchema = setVariable('BILLING_SCHEMA') ?? defaultSchema

/** The statements that a test writes and sends to the pool name the schema of the run, as those of the product do. */
export function inTestSchema(database: Database): Database {
  if (testSchema === defaultSchema) return database
  const { pool, schema } = database
  const query = (text: string, values?: unknown[]) => pool.query(schema.textOf(text), values)
  return {
    ...database,
    pool: new Proxy(pool, {
      get(target, key) {
        if (key === 'query') return query
        const value: unknown = Reflect.get(target, key)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    }),
  }
}
