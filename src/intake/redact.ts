/** Headers that carry credentials whichever gateway sends them. */
const alwaysRedacted = new Set(['authorization', 'cookie', 'proxy-authorization', 'x-api-key'])

const redacted = '[redacted]'

/** The headers as they are stored: credentials blanked, names and the rest kept. */
export function redactHeaders(
  headers: Readonly<Record<string, string>>,
  credentialHeaders: readonly string[],
): Readonly<Record<string, string>> {
  const stored: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase()
    const isSecret = alwaysRedacted.has(key) || credentialHeaders.includes(key)
    stored[name] = isSecret ? redacted : value
  }
  return stored
}
