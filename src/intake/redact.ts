/** Headers that carry credentials whichever gateway sends them. */
const alwaysRedacted = ['authorization', 'cookie', 'proxy-authorization', 'x-api-key']

const redacted = '[redacted]'

/** The headers as they are stored: credentials blanked, names and the rest kept. */
export function redactHeaders(
  headers: Readonly<Record<string, string>>,
  credentialHeaders: readonly string[],
): Readonly<Record<string, string>> {
  const secret = new Set([...alwaysRedacted, ...credentialHeaders])
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      secret.has(name.toLowerCase()) ? redacted : value,
    ]),
  )
}
