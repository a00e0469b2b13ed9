import { AsyncLocalStorage } from 'node:async_hooks'
import { callbackify } from 'node:util'
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import type { Transaction } from '../database/connect.ts'
import { kyselyOver } from '../database/kysely-over.ts'
import type { Tables } from '../database/tables.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { ListenerTransaction } from './listener.ts'
import { readControl, type TransactionControl } from './transaction-control.ts'

/** The time during which listeners run in a transaction of ours. */
export interface ListenerScope {
  open: boolean
  /** A setting, a role or a temporary table stays behind in the transaction. */
  leavesTrace: boolean
  /** The same, and it outlives the transaction. */
  leavesSession: boolean
  /** The transactions that listeners have begun inside, the outermost first. */
  readonly nested: NestedTransaction[]
}

/** A transaction that a listener has begun inside its own: a savepoint. */
interface NestedTransaction {
  readonly savepoint: string
  /** Which connection of a pool has begun it; undefined: the client itself. */
  readonly connection: object | undefined
}

const scopes = new AsyncLocalStorage<ListenerScope>()

export function runInScope<T>(scope: ListenerScope, work: () => T): T {
  return scopes.run(scope, work)
}

/**
 * Refuses handles that are not bound to the listener's transaction: their writes would not roll
 * back with it, and on the embedded database they would wait for it forever.
 */
export function refuseInsideListener(
  what: string,
  code: 'outer_handle_in_listener' | 'gateway_call_in_transaction' = 'outer_handle_in_listener',
): void {
  if (scopes.getStore()?.open !== true) return
  throw new QuittanceError(code, `${what} was used inside a listener's transaction`)
}

/** Set before the events of a source are claimed: behind it, they would be rolled back. */
export const ourSavepoint = 'quittance_listeners'

/** What the names of nested savepoints begin with: listeners end them without a name. */
const nestedSavepoint = 'quittance_nested_'

const namesOurs = new RegExp(String.raw`\b(?:${ourSavepoint}\b|${nestedSavepoint})`, 'i')

/** What outlives a savepoint, also behind a comment; not noticed inside a function of the user's. */
const leavesTrace =
  /(?:^|;|\*\/|--[^\n]*\n)\s*(?:set|reset|prepare|declare)\b|\bset_config\s*\(|\b(?:pg_)?temp(?:orary)?\b/i

/** The same without what ends with the transaction; `reset` also takes back what we have set. */
const leavesSession =
  /(?:^|;|\*\/|--[^\n]*\n)\s*(?:set(?!\s+(?:local|transaction|constraints)\b)|reset|prepare|declare)\b|\bset_config\s*\((?![^)]*,\s*true\s*\))|\b(?:pg_)?temp(?:orary)?\b/i

/**
 * The transaction as listeners get it: usable while their scope is open, and never ended by them.
 */
export function listenerTransaction(
  client: pg.PoolClient,
  scope: ListenerScope,
): ListenerTransaction {
  const guarded = new Proxy(client, {
    get(target, key) {
      if (key === 'query') return guardedQuery(target, scope)
      if (key === 'release' || key === 'end') return refuseEnding
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  // Each connection is the client, and known as the one that has begun what it has begun.
  const pool = poolOf(() => guardedQuery(client, scope, {}))
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  return Object.assign(db, {
    client: guarded,
    query: <Row extends pg.QueryResultRow>(text: string, params: readonly unknown[] = []) =>
      guarded.query<Row>(text, [...params]),
  })
}

/** For what our own operations write in a listener's transaction, also inside a nested one. */
export function listenerDb({ client, schema }: Transaction, scope: ListenerScope): Kysely<Tables> {
  return kyselyOver(
    poolOf(() => guardedQuery(client, scope)),
    schema,
  )
}

function poolOf(query: () => ReturnType<typeof guardedQuery>): PostgresPool {
  const connect = () => Promise.resolve({ query: query(), release: () => {} } as PostgresPoolClient)
  return { connect, end: () => Promise.resolve(), options: {} }
}

function guardedQuery(client: pg.PoolClient, scope: ListenerScope, connection?: object) {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  return (...args: unknown[]) => {
    requireOpen(scope)
    const text = textOf(args[0])
    if (namesOurs.test(text)) refuseControl(text)
    if (leavesTrace.test(text)) scope.leavesTrace = true
    if (leavesSession.test(text)) scope.leavesSession = true
    const begunBy = scope.nested.at(-1)?.connection
    if (connection && begunBy && connection !== begunBy) refuseParallel(text)
    const control = readControl(text)
    if (control === undefined) return query(...args)
    return answerTo(args, controlNested(control, text, { client, scope, connection }))
  }
}

interface Controlled {
  readonly client: pg.PoolClient
  readonly scope: ListenerScope
  readonly connection: object | undefined
}

function controlNested(
  control: TransactionControl,
  text: string,
  { client, scope: { nested }, connection }: Controlled,
): Promise<pg.QueryResult> {
  const send = (statements: string) => client.query(statements)
  if (control === 'begin') {
    // Whoever nests one waits for what came before: this is another one, at the same time.
    if (Reflect.get(client, 'readyForQuery') === false) refuseParallel(text)
    return beginNested(nested, connection, send)
  }
  const last = nested.at(-1)
  if (control === 'refused' || last === undefined) refuseControl(text)
  if (connection !== last.connection) refuseParallel(text)
  return endNested(nested, last, { how: control, send })
}

/** `pg` takes callbacks too. */
function answerTo(args: readonly unknown[], answer: Promise<pg.QueryResult>): unknown {
  const callback = args.find((one) => typeof one === 'function') as Callback | undefined
  return callback === undefined ? answer : callbackify(() => answer)(callback)
}

type Callback = (error: Error, result: pg.QueryResult) => void

function requireOpen(scope: ListenerScope): void {
  if (scope.open) return
  throw new QuittanceError(
    'outer_handle_in_listener',
    'the transaction of a listener was used after the listener had ended',
    { fix: 'Await every statement inside the listener.' },
  )
}

function textOf(query: unknown): string {
  if (typeof query === 'string') return query
  if (typeof query === 'object' && query !== null && 'text' in query) return String(query.text)
  // Stryker disable next-line StringLiteral: whatever is no statement does
  return ''
}

function refuseControl(text: string): never {
  throw new QuittanceError(
    'transaction_control_refused',
    `a listener tried to end its transaction: ${text.trim().slice(0, 40)}`,
  )
}

function refuseParallel(text: string): never {
  throw new QuittanceError(
    'transaction_control_refused',
    `a listener's nested transaction runs beside other statements: ${text.trim().slice(0, 40)}`,
    { fix: 'Inside it, use its own handle; await it before the next statement.' },
  )
}

function refuseEnding(): never {
  throw new QuittanceError(
    'transaction_control_refused',
    'a listener tried to release the connection of its transaction',
  )
}

type Send = (text: string) => Promise<pg.QueryResult | pg.QueryResult[]>

/** Counts as open from now on, not from its answer: what is sent next comes behind it. */
async function beginNested(
  open: NestedTransaction[],
  connection: object | undefined,
  send: Send,
): Promise<pg.QueryResult> {
  const begun = { savepoint: `${nestedSavepoint}${open.length + 1}`, connection }
  open.push(begun)
  try {
    return withCommand('BEGIN', await send(`savepoint ${begun.savepoint}`))
  } catch (error) {
    removeFrom(open, begun)
    throw error
  }
}

/**
 * Where that fails, it stays open and can be rolled back. Thus to commit an aborted one throws;
 * PostgreSQL would answer with a rollback, which few read.
 */
async function endNested(
  open: NestedTransaction[],
  last: NestedTransaction,
  { how, send }: { readonly how: 'commit' | 'rollback'; readonly send: Send },
): Promise<pg.QueryResult> {
  const undo = how === 'rollback' ? `rollback to savepoint ${last.savepoint}; ` : ''
  const result = await send(`${undo}release savepoint ${last.savepoint}`)
  removeFrom(open, last)
  return withCommand(how.toUpperCase(), result)
}

function removeFrom(open: NestedTransaction[], one: NestedTransaction): void {
  open.splice(open.indexOf(one), 1)
}

/** As the server would answer the statement that was asked for. */
function withCommand(command: string, result: pg.QueryResult | pg.QueryResult[]): pg.QueryResult {
  const last = [result].flat().at(-1) as pg.QueryResult
  return { ...last, command }
}
