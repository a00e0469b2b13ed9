import { inspect } from 'node:util'
import { isQuittanceError, QuittanceError } from './errors.ts'
import { textOf } from './exception-text.ts'
import { scrubber } from './secret.ts'

/** What a log may show of an error: drivers attach connections, with passwords, to theirs. */
export interface SafeError {
  readonly type: string
  readonly message: string
  readonly code?: string
  readonly stack?: string
  readonly cause?: SafeError
}

const deepest = 3
const scrubUnknown = scrubber([])

export function safeError(
  error: unknown,
  scrub: (text: string) => string = scrubUnknown,
  depth = 0,
): SafeError | string {
  if (!(error instanceof Error)) return scrub(textOf(error))
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const cause =
    error.cause instanceof Error && depth < deepest
      ? safeError(error.cause, scrub, depth + 1)
      : undefined
  return {
    type: error.name,
    message: scrub(error.message),
    ...(code !== undefined && { code }),
    ...(error.stack !== undefined && { stack: scrub(error.stack) }),
    ...(typeof cause === 'object' && { cause }),
  }
}

/**
 * What an app gets instead of what was thrown, and may write anywhere: the same error, with its texts,
 * its causes and all else that it holds blanked out.
 */
export function blankedOut(thrown: unknown, scrub: (text: string) => string): unknown {
  try {
    return blankedIn(thrown, scrub, new Set())
  } catch {
    // It is frozen, or cannot even be read.
    const text = scrub(textOf(thrown))
    return isQuittanceError(thrown) ? new QuittanceError(thrown.code, text) : new Error(text)
  }
}

function blankedIn(value: unknown, scrub: (text: string) => string, seen: Set<unknown>): unknown {
  if (typeof value === 'string') return scrub(value)
  if (typeof value !== 'object' || value === null || seen.has(value)) return value
  seen.add(value)
  if (Array.isArray(value)) {
    const parts: readonly unknown[] = value
    const blanked = parts.map((part) => blankedIn(part, scrub, seen))
    return blanked.some((part, index) => part !== parts[index]) ? blanked : value
  }
  if (!(value instanceof Error)) {
    // It may be in use elsewhere, such as the headers of every request: so it stays as it is.
    const text = inspect(value, { depth: 4, maxStringLength: null })
    const scrubbed = scrub(text)
    return scrubbed === text ? value : scrubbed
  }
  for (const name of new Set<string | symbol>(['message', ...Reflect.ownKeys(value)])) {
    const held: unknown = Reflect.get(value, name)
    const blanked = blankedIn(held, scrub, seen)
    if (blanked === held) continue
    const enumerable = Object.prototype.propertyIsEnumerable.call(value, name)
    // Not by assignment: the message of some errors has a getter alone.
    const field = { value: blanked, enumerable, writable: true, configurable: true }
    Object.defineProperty(value, name, field)
  }
  return value
}
