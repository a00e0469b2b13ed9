/** What the webhook route answers: constant texts that repeat nothing of the request. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export function message(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify({ message: text }),
  }
}

export const unknownGateway = message(404, 'unknown gateway')
/** Only almost the address of a gateway. */
export const wrongAddress = message(404, 'not the callback URL of this gateway')
export const forbidden = message(403, 'forbidden')
export const methodNotAllowed = message(405, 'method not allowed', { allow: 'POST' })
export const bodyTooLarge = message(413, 'body too large', { connection: 'close' })
export const unsupportedEncoding = message(415, 'unsupported content encoding')
export const processingFailed = message(500, 'processing failed')
export const retryAfter = { 'retry-after': '5' } as const
export const unavailable = message(503, 'temporarily unavailable', retryAfter)

export function malformed(field: string): Answer {
  return message(422, `${field} is missing or not allowed`)
}
