/** What a log may say of an error: drivers hang connections, with their passwords, on theirs. */
export interface SafeError {
  readonly type: string
  readonly message: string
  readonly code?: string
  readonly stack?: string
  readonly cause?: SafeError
}

const deepest = 3

export function safeError(error: unknown, depth = 0): SafeError | string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const cause =
    error.cause instanceof Error && depth < deepest ? safeError(error.cause, depth + 1) : undefined
  return {
    type: error.name,
    message: error.message,
    ...(code !== undefined && { code }),
    ...(error.stack !== undefined && { stack: error.stack }),
    ...(typeof cause === 'object' && { cause }),
  }
}
