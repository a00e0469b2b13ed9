const limitBytes = 16 * 1024

/** What is stored of an error: its message, stack and causes, scrubbed, then cut at 16 KB. */
export function exceptionText(error: unknown, scrub: (text: string) => string): string {
  const text = scrub(describe(error, 0)).replaceAll('\u0000', '\uFFFD')
  const bytes = Buffer.from(text)
  if (bytes.length <= limitBytes) return text
  const mark = '\n[cut]'
  // Cutting inside a character leaves a replacement character, which is dropped.
  return (
    bytes
      .subarray(0, limitBytes - mark.length)
      .toString()
      .replace(/\uFFFD+$/, '') + mark
  )
}

function describe(error: unknown, depth: number): string {
  if (!(error instanceof Error)) return textOf(error)
  const head = `${error.name}: ${error.message}`
  const stack = error.stack ?? ''
  const own = stack.startsWith(head) || stack === '' ? stack || head : `${head}\n${stack}`
  if (error.cause === undefined || depth >= 3) return own
  return `${own}\ncaused by: ${describe(error.cause, depth + 1)}`
}

/** Anything can be thrown, even a value that refuses to become text. */
export function textOf(thrown: unknown): string {
  try {
    return String(thrown)
  } catch {
    return Object.prototype.toString.call(thrown)
  }
}
