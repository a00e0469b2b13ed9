import { connect, type Database } from '../../database/connect.ts'
import { findEmbedded } from '../../database/embedded/find-embedded.ts'
import { pendingMigrations } from '../../database/migrate.ts'
import { seconds } from '../../kernel/duration.ts'
import { silentLog } from '../../kernel/log.ts'
import type { Configuration } from '../env.ts'

/** The database as a diagnosis finds it: only looked at, never migrated or created. */
export type DatabaseState =
  | { readonly kind: 'open'; readonly database: Database }
  | {
      readonly kind: 'closed'
      readonly why: typeof unanswered | typeof atRest
      readonly cause: unknown
    }

export const unanswered = 'the database does not answer'
/** Opening an embedded database here would keep a service from starting. */
export const atRest = 'no service has the database open'

const statementTimeout = seconds(3)

export async function openForDiagnosis({ options }: Configuration): Promise<DatabaseState> {
  const { url, dataDir, schema } = options.database
  const shared = {
    schema,
    log: silentLog,
    poolSize: 2,
    applicationName: 'quittance doctor',
    statementTimeout,
  }
  if (url === undefined) {
    try {
      const socket = await findEmbedded(dataDir)
      return await answering(() => connect({ ...shared, target: { kind: 'embedded', ...socket } }))
    } catch (cause) {
      return { kind: 'closed', why: atRest, cause }
    }
  }
  return answering(() => connect({ ...shared, target: { kind: 'postgres', url } }))
}

async function answering(open: () => Database): Promise<DatabaseState> {
  let database: Database | undefined
  try {
    database = open()
    await database.pool.query('select 1')
    return { kind: 'open', database }
  } catch (cause) {
    await database?.close()
    return { kind: 'closed', why: unanswered, cause }
  }
}

/** Why nothing can be read of what stands in it; undefined: it can. */
export async function whyUnread(state: DatabaseState): Promise<string | undefined> {
  if (state.kind === 'closed') return state.why
  return (await pendingMigrations(state.database)).length > 0 ? 'the schema is outdated' : undefined
}
