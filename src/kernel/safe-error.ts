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

/** Blanks out in the error itself, and in what has caused it: an app that gets it may write it anywhere. */
export function blankOut(
  error: unknown,
  scrub: (text: string) => string,
  seen: Set<unknown> = new Set(),
): void {
  if (!(error instanceof Error) || seen.has(error)) return
  seen.add(error)
  for (const name of ['message', 'stack'] as const) {
    const text = error[name]
    const value = text === undefined ? undefined : scrub(text)
    // Not by assignment: the message of some errors has a getter alone.
    if (value !== text) {
      Object.defineProperty(error, name, { value, writable: true, configurable: true })
    }
  }
  const parts: readonly unknown[] = error instanceof AggregateError ? error.errors : []
  for (const one of [error.cause, ...parts]) blankOut(one, scrub, seen)
}
