import { IncomingMessage } from 'node:http'
import type { Context } from 'hono'

/** What came of reading a request's body. */
export type BodyRead =
  | { readonly kind: 'read'; readonly bytes: Uint8Array }
  | { readonly kind: 'too_large' }
  /** Somebody read it before us and kept no exact copy. */
  | { readonly kind: 'consumed' }
  /** The sender went away, or sent less than announced. */
  | { readonly kind: 'cut_short' }

const tooLarge: BodyRead = { kind: 'too_large' }

/** The node request below the Hono one, when the app runs on node. */
export function nodeRequest(c: Context): IncomingMessage | undefined {
  const environment: unknown = c.env
  if (typeof environment !== 'object' || environment === null) return undefined
  const incoming = 'incoming' in environment ? environment.incoming : undefined
  return incoming instanceof IncomingMessage ? incoming : undefined
}

/**
 * The exact bytes of the body, at most `limit` of them. An announced length is judged before a byte
 * is read; a body without one is read up to the limit.
 */
export async function readBody(c: Context, limit: number): Promise<BodyRead> {
  const announced = c.req.header('content-length')
  if (Number(announced) > limit) return tooLarge
  // A middleware that read the bytes through Hono left them there, as a promise.
  const kept = c.req.bodyCache.arrayBuffer
  if (kept !== undefined) return bounded(new Uint8Array(await Promise.resolve(kept)), limit)
  if (isConsumed(c)) return { kind: 'consumed' }
  try {
    if (announced === undefined) return await readStream(c.req.raw.body, limit)
    return bounded(new Uint8Array(await c.req.raw.arrayBuffer()), limit)
  } catch {
    return { kind: 'cut_short' }
  }
}

function bounded(bytes: Uint8Array, limit: number): BodyRead {
  return bytes.byteLength > limit ? tooLarge : { kind: 'read', bytes }
}

function isConsumed(c: Context): boolean {
  if (c.req.raw.bodyUsed) return true
  const incoming = nodeRequest(c)
  // Some platforms read the body themselves and leave its exact bytes as `rawBody`.
  return incoming !== undefined && incoming.readableDidRead && !('rawBody' in incoming)
}

async function readStream(
  stream: ReadableStream<Uint8Array> | null,
  limit: number,
): Promise<BodyRead> {
  if (stream === null) return { kind: 'read', bytes: new Uint8Array() }
  const reader = stream.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return { kind: 'read', bytes: new Uint8Array(Buffer.concat(chunks, length)) }
    length += value.byteLength
    if (length > limit) {
      await reader.cancel()
      return tooLarge
    }
    chunks.push(value)
  }
}
