const redacted = '[redacted]'

/**
 * Names whose last word says that the value is a credential: `x-auth-token`, `x-hub-signature-256`.
 */
const credentialHeader =
  /(?:^|[-_])(?:auth|authorization|cookie|[a-z]*token|[a-z]*secret|sign|signature|password|(?<!(?:idempotency|websocket)[-_])(?:api|access)?key|jwt|assertion|credentials?)(?:-?\d+)?$/
/**
 * Headers that are credentials whatever their name says, such as the signed identity that a proxy
 * passes on.
 */
const credentialValue = /^(?:bearer|basic|digest) |\beyJ[\w-]{8,}\.[\w-]{8,}\./i
const userInUrl = /(?<=:\/\/)[^/?#\s@]*@/g

/** For one value, and for all names and values together; the rest is left out. */
const longestValue = 512
const mostHeaderText = 4 * 1024

/**
 * The headers as stored: credentials blanked, names and the rest kept. The credential headers of
 * other gateways are blanked too: a relay or a misled sender may send them here.
 */
export function redactHeaders(
  headers: Readonly<Record<string, string>>,
  credentialHeaders: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const stored: Record<string, string> = {}
  let length = 0
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase()
    const isNamed = credentialHeader.test(key) || credentialHeaders.has(key)
    const isSecret = isNamed || credentialValue.test(value)
    // Proxies pass on the requested URL.
    const shown = isSecret
      ? redacted
      : cut(redactUrl(value).replaceAll(userInUrl, `${redacted}@`), longestValue)
    if (length + name.length + shown.length > mostHeaderText) continue
    length += name.length + shown.length
    stored[name] = shown
  }
  return stored
}

const longestUrl = 4 * 1024

/** The URL as stored: query values are blanked if their name speaks of a credential. */
export function redactUrl(url: string): string {
  const query = url.indexOf('?')
  if (query === -1) return cut(url, longestUrl)
  const parts = url.slice(query + 1).split(/([&;])/)
  return cut(url.slice(0, query + 1) + parts.map(redactPart).join(''), longestUrl)
}

function redactPart(part: string): string {
  const equals = part.indexOf('=')
  const isSecret = equals !== -1 && speaksOfCredential(decoded(part.slice(0, equals)))
  return isSecret ? part.slice(0, equals + 1) + redacted : part
}

const credentialWords: ReadonlySet<string> = new Set([
  'apikey',
  'auth',
  'authorization',
  'credential',
  'credentials',
  'jwt',
  'key',
  'keys',
  'passwd',
  'password',
  'pwd',
  'secret',
  'secrets',
  'sig',
  'sign',
  'signature',
  'token',
  'tokens',
])

/** By its words: `api_key`, `accessToken` and `x[secret]` do, `monkey` and `tokenize` do not. */
function speaksOfCredential(name: string): boolean {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
  return words.some((word) => credentialWords.has(word))
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`
}
