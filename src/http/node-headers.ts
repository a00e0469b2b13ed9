import type { IncomingMessage } from 'node:http'

/**
 * Names in lower case; a header that came twice is joined by a comma, so no check sees only half of
 * it.
 */
export function headersOf(incoming: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return headers
}
