import { randomBytes } from 'node:crypto'
import { connect, type Database, type DatabaseTarget } from '../../src/database/connect.ts'
import { migrate } from '../../src/database/migrate.ts'
import type { NewCall, Queryable } from '../../src/intake/insert-calls.ts'
import {
  createCallStore,
  type CallStore,
  type CallStoreOptions,
  type StoreResult,
} from '../../src/intake/store-calls.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { capturedLog } from '../support/captured-log.ts'
import { muchPatience } from '../support/patience.ts'

/** The call store over connections of its own, and other ones to look into the database. */
export interface TestStore extends AsyncDisposable {
  readonly calls: CallStore
  /** Beside the intake's connections. */
  readonly database: Database
  readonly logged: readonly Record<string, unknown>[]
  /** Statements that the store has begun. */
  statements(): number
  /** The ids that each of them was given, in the order of their beginning. */
  readonly inserted: readonly (readonly string[])[]
}

export interface TestStoreOptions extends Omit<CallStoreOptions, 'database' | 'log'> {
  /** Where the store connects to, if not to the database itself. */
  readonly through?: DatabaseTarget
}

export async function openStore(
  target: DatabaseTarget,
  { through = target, ...options }: TestStoreOptions = {},
): Promise<TestStore> {
  const { log, lines } = capturedLog()
  const patience = muchPatience
  const shared = { log, patience, statementTimeout: patience.statement }
  const database = connect({ ...shared, target, poolSize: 4, applicationName: 'test' })
  await migrate(database)
  const intake = connect({
    ...shared,
    target: through,
    poolSize: target.kind === 'embedded' ? 1 : 2,
    applicationName: 'test intake',
  })
  const inserted: (readonly string[])[] = []
  const counted: Queryable = {
    query(text, values) {
      inserted.push(idsIn(values[0] as Buffer))
      return intake.query(text, values)
    },
  }
  const stored = { ...options, database: counted, log }
  const calls = createCallStore({ deadline: patience.answering, ...stored })
  return {
    calls,
    database,
    logged: lines,
    statements: () => inserted.length,
    inserted,
    [Symbol.asyncDispose]: async () => {
      await calls.close()
      await intake.close()
      await database.close()
    },
  }
}

/** The elements of PostgreSQL's binary array of uuids, none of them null. */
function idsIn(array: Buffer): readonly string[] {
  const header = 20
  const length = 4
  const ids: string[] = []
  for (let at = header; at < array.length; at += length + 16) {
    const hex = array.toString('hex', at + length, at + length + 16)
    ids.push(hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'))
  }
  return ids
}

/** A call as `receive` hands it over. */
export function newCall(changes: Partial<NewCall> = {}): NewCall {
  const text = JSON.stringify({ payment_id: newUuid(), result: 'success', canary: newUuid() })
  return {
    id: newUuid(),
    gateway: 'fake',
    queue: 'default',
    url: 'https://pay.example.test/billing/webhooks/fake',
    headers: { 'content-type': 'application/json' },
    kind: 'json',
    payload: text,
    body: null,
    bodyEncrypted: false,
    size: Buffer.byteLength(text),
    leaseToken: null,
    ...changes,
  }
}

/** A call whose body takes so many bytes. */
export function largeCall(bytes: number): NewCall {
  return newCall({ kind: 'unreadable', payload: null, body: randomBytes(bytes), size: bytes })
}

export function newCalls(count: number): readonly NewCall[] {
  return Array.from({ length: count }, () => newCall())
}

/** How each store ended so far; `undefined` while it waits. */
export function follow(
  calls: CallStore,
  stored: readonly NewCall[],
): { readonly results: (StoreResult | undefined)[]; readonly all: Promise<StoreResult[]> } {
  const results: (StoreResult | undefined)[] = stored.map(() => undefined)
  const all = Promise.all(
    stored.map(async (call, index) => {
      const result = await calls.store(call)
      results[index] = result
      return result
    }),
  )
  return { results, all }
}

export async function storedIds(database: Pick<Database, 'pool'>): Promise<readonly string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    'select id from billing.webhook_calls order by id',
  )
  return rows.map((row) => row.id)
}

/** Until it is released no other connection can store a call. */
export async function blockCalls(database: Database): Promise<{ release(): Promise<void> }> {
  const held = Promise.withResolvers<void>()
  const taken = Promise.withResolvers<void>()
  const transaction = database
    .transaction(async ({ client }) => {
      await client.query('lock table billing.webhook_calls in share row exclusive mode')
      taken.resolve()
      await held.promise
    })
    .catch(taken.reject)
  await taken.promise
  return {
    release: async () => {
      held.resolve()
      await transaction
    },
  }
}
