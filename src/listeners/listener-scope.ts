import { AsyncLocalStorage } from 'node:async_hooks'
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { singleClientPool } from '../database/connect.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { ListenerTransaction } from './listener.ts'

/** The time during which listeners run in a transaction of ours. */
export interface ListenerScope {
  open: boolean
  /** A setting, a role or a temporary table stays behind in the transaction. */
  leavesTrace: boolean
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

/** Begin, commit and rollback are ours; all savepoints but our own are free to use. */
const transactionControl =
  /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)*(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/i

const namesOurs = new RegExp(String.raw`\b${ourSavepoint}\b`, 'i')

/** What outlives a savepoint; not noticed inside a function of the user's own. */
const leavesTrace =
  /(?:^|;)\s*(?:set|reset|prepare|declare)\b|\bset_config\s*\(|\btemp(?:orary)?\b/i

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
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: singleClientPool(guarded) }),
  })
  return Object.assign(db, {
    client: guarded,
    query: <Row extends pg.QueryResultRow>(text: string, params: readonly unknown[] = []) =>
      guarded.query<Row>(text, [...params]),
  })
}

function guardedQuery(client: pg.PoolClient, scope: ListenerScope) {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  return (...args: unknown[]) => {
    if (!scope.open) {
      throw new QuittanceError(
        'outer_handle_in_listener',
        'the transaction of a listener was used after the listener had ended',
        { fix: 'Await every statement inside the listener.' },
      )
    }
    const text = textOf(args[0])
    if (transactionControl.test(text) || namesOurs.test(text)) refuseControl(text)
    if (leavesTrace.test(text)) scope.leavesTrace = true
    return query(...args)
  }
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

function refuseEnding(): never {
  throw new QuittanceError(
    'transaction_control_refused',
    'a listener tried to release the connection of its transaction',
  )
}
