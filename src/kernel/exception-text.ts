const limitBytes = 16 * 1024

/** What is stored of an error: its message, stack and causes, cut at 16 KB. */
export function exceptionText(error: unknown): string {
  const text = describe(error, 0).replaceAll('\u0000', '\uFFFD')
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
  if (!(error instanceof Error)) return String(error)
  const head = `${error.name}: ${error.message}`
  const stack = error.stack ?? ''
  const own = stack.startsWith(head) || stack === '' ? stack || head : `${head}\n${stack}`
  if (error.cause === undefined || depth >= 3) return own
  return `${own}\ncaused by: ${describe(error.cause, depth + 1)}`
}
