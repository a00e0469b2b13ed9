import { isQuittanceError, type QuittanceError } from '../kernel/errors.ts'
import { tlsCodes } from '../kernel/tls-codes.ts'

/**
 * What a database error means for the statement or transaction that met it:
 * - `transient`: rolled back by the server; the same try may succeed soon;
 * - `data`: rolled back because the values are at fault; the same try would fail again;
 * - `unavailable`: rolled back or never started; the server cannot do it now;
 * - `lost`: the connection is gone; if a commit was under way, its fate is unknown;
 * - `other`: not the database's doing, or a bug.
 */
export type FailureKind = 'transient' | 'data' | 'unavailable' | 'lost' | 'other'

const networkCodes = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EADDRNOTAVAIL',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

/** `pg` reports these without a code. */
const lostMessages =
  /connection terminated|connection ended|timeout expired|timeout exceeded when trying to connect|query read timeout|not queryable|client was closed|socket hang up|does not support SSL|cannot use a pool after/i

const sqlState = /^[0-9A-Z]{5}$/

export function sqlStateOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  const { code } = error
  return typeof code === 'string' && sqlState.test(code) && 'severity' in error ? code : undefined
}

export function classifyFailure(error: unknown): FailureKind {
  const state = sqlStateOf(error)
  if (state !== undefined) {
    // The database takes no connections; to a statement, the state says that it is faulty.
    const isClosed = state === '55000' && Reflect.get(Object(error), 'severity') === 'FATAL'
    if (isClosed) return 'unavailable'
    return isOfDyingNode(state, error) ? 'lost' : classifyState(state)
  }
  if (isQuittanceError(error)) return classifyOwn(error)
  if (!(error instanceof Error)) return 'other'
  const code = 'code' in error ? String(error.code) : ''
  if (networkCodes.has(code) || tlsCodes.test(code)) return 'lost'
  return lostMessages.test(error.message) ? 'lost' : 'other'
}

/** Where schemas are spread over several servers, one of them is lost in the middle of a statement. */
function isOfDyingNode(state: string, error: unknown): boolean {
  return state === 'XX000' && /connection marked as essential/.test(String(error))
}

/** Their messages tell nothing: they may repeat what a provider said about a connection of its own. */
function classifyOwn({ code }: QuittanceError): FailureKind {
  // It lasts until the setting of the role or of the pooler is corrected, and blames no work.
  return code === 'database_setting_unsuitable' ? 'unavailable' : 'other'
}

const transientStates = new Set(['55P03', '57014', '25P03', '25P04'])

function classifyState(state: string): FailureKind {
  // Shutdowns and class 08 may strike between the commit and its answer.
  if (state.startsWith('57P') || state.startsWith('08')) return 'lost'
  if (unknownStatements.has(state)) return 'transient'
  // Serialization and deadlock; a lock or statement timeout; idle in, or too long a transaction.
  if (state.startsWith('40') || transientStates.has(state)) return 'transient'
  if (state.startsWith('22') || state.startsWith('23') || state === '54000' || state === '54001') {
    return 'data'
  }
  if (state.startsWith('53') || state.startsWith('58') || state === '25006' || state === '3D000') {
    return 'unavailable'
  }
  return 'other'
}

/**
 * The server behind the connection refuses every write: a standby, or a primary that was replaced.
 * Its name may lead elsewhere by now, but a connection stays where it was opened.
 */
export function isReadOnly(error: unknown): boolean {
  return sqlStateOf(error) === '25006'
}

/** A statement is not prepared where we believe so, or is where we do not. */
const unknownStatements = new Set(['26000', '42P05'])

/**
 * The server's process has other prepared statements than the connection believes: somebody has
 * dropped them, or a pooler gives it another process each time.
 */
export function isAstray(error: unknown): boolean {
  return unknownStatements.has(sqlStateOf(error) ?? '')
}

/** Failures after which the same work may simply be retried, without blaming anybody. */
export function isPassing(error: unknown): boolean {
  const kind = classifyFailure(error)
  return kind === 'transient' || kind === 'unavailable' || kind === 'lost'
}
