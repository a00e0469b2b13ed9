import { Kysely, PostgresDialect, type Dialect, type PostgresPool } from 'kysely'
import { defaultSchema, type Schema } from './schema.ts'
import type { Tables } from './tables.ts'

/** Kysely whose statements name the tables of the schema. */
export function kyselyOver(pool: PostgresPool, schema: Schema): Kysely<Tables> {
  const dialect = new PostgresDialect({ pool })
  return new Kysely<Tables>({
    dialect: schema.name === defaultSchema ? dialect : inSchema(dialect, schema),
  })
}

function inSchema(dialect: PostgresDialect, { textOf }: Schema): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => dialect.createDriver(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler() {
      const compiler = dialect.createQueryCompiler()
      return {
        compileQuery(node, id) {
          const compiled = compiler.compileQuery(node, id)
          return { ...compiled, sql: textOf(compiled.sql) }
        },
      }
    },
  }
}
