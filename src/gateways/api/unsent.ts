import { isQuittanceError } from '../../kernel/errors.ts'

const unsent = new WeakSet<Error>()

/** Failures of a connection before anything could be sent over it. */
const unconnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT'])
/** How Node says that a proxy answered something else than 200: there was no way to the provider. */
const refusedByProxy = /^Proxy response \(\d+\) !== 200 when HTTP Tunneling$/

/** Whether a request failed before the provider could get any of it. */
export function isUnconnected(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && typeof error.code === 'string' && unconnected.has(error.code)) return true
  return refusedByProxy.test(error.message) || isUnconnected(error.cause)
}

/** Signals of operations in which something may have reached the provider. */
const reached = new WeakSet<AbortSignal>()

export function markReached(signal: AbortSignal | undefined): void {
  if (signal !== undefined) reached.add(signal)
}

/** Marks the failure of an operation in which nothing before reached the provider, either. */
export function markUnsent(error: Error, signal: AbortSignal | undefined): void {
  if (signal !== undefined && !reached.has(signal)) unsent.add(error)
}

/** Whether nothing was sent: there was no connection. */
export function wasUnsent(error: unknown): boolean {
  return isQuittanceError(error) && unsent.has(error)
}
