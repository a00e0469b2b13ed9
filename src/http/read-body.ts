import { IncomingMessage } from 'node:http'
import type { Context } from 'hono'

/** The result of reading a request's body. */
export type BodyRead =
  | { readonly kind: 'read'; readonly bytes: Uint8Array }
  | { readonly kind: 'too_large' }
  /** Something read it before us, from the web request or from Node's, and kept no exact copy. */
  | { readonly kind: 'consumed'; readonly from: ReadFrom }
  /** The sender went away, sent less than announced, or sent it in crumbs. */
  | { readonly kind: 'cut_short' }

export type ReadFrom = 'web' | 'node'

const tooLarge: BodyRead = { kind: 'too_large' }
const consumedBelow: BodyRead = { kind: 'consumed', from: 'node' }

/** The Node request below the Hono one, if the app runs on Node. */
export function nodeRequest(c: Context): IncomingMessage | undefined {
  const environment: unknown = c.env
  if (typeof environment !== 'object' || environment === null) return undefined
  const incoming = 'incoming' in environment ? environment.incoming : undefined
  return incoming instanceof IncomingMessage ? incoming : undefined
}

/**
 * The exact bytes of the body, at most `limit` of them. An announced length is checked before a
 * byte is read; a body without one is read up to the limit.
 */
export async function readBody(c: Context, limit: number): Promise<BodyRead> {
  const announced = c.req.header('content-length')
  if (Number(announced) > limit) return tooLarge
  // Middleware that read the bytes through Hono left them there, as a promise.
  const kept = c.req.bodyCache.arrayBuffer
  if (kept !== undefined) return bounded(new Uint8Array(await Promise.resolve(kept)), limit)
  if (c.req.raw.bodyUsed) return { kind: 'consumed', from: 'web' }
  const incoming = nodeRequest(c)
  const begun = isBegun(incoming)
  try {
    const read =
      announced === undefined
        ? await readStream(c.req.raw.body, limit)
        : bounded(new Uint8Array(await c.req.raw.arrayBuffer()), limit)
    return begun && isShort(read, announced) ? consumedBelow : read
  } catch {
    return begun && incoming?.readableAborted === false ? consumedBelow : { kind: 'cut_short' }
  }
}

function bounded(bytes: Uint8Array, limit: number): BodyRead {
  return bytes.byteLength > limit ? tooLarge : { kind: 'read', bytes }
}

/**
 * Whether something has read from the Node stream. That may have been the web stream made from it
 * (a clone, a rewritten URL), through which the bytes still come: only reading shows.
 */
function isBegun(incoming: IncomingMessage | undefined): boolean {
  if (incoming?.readableDidRead !== true) return false
  // Some platforms read the body themselves and leave its exact bytes in `rawBody`.
  return !('rawBody' in incoming && incoming.rawBody instanceof Uint8Array)
}

function isShort(read: BodyRead, announced = '1'): boolean {
  return read.kind === 'read' && read.bytes.byteLength < Number(announced)
}

/**
 * Whether a body comes in crumbs: each costs us as much as a whole request, and its sender six
 * bytes. A callback may be written byte by byte, but not on and on.
 */
function isInCrumbs(chunks: number, length: number): boolean {
  return chunks > 2_000 + length / 512
}

/** Doubles the space: a chunk that is kept as it came costs many times its bytes. */
export function grown(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  if (length <= bytes.byteLength) return bytes
  const larger = new Uint8Array(Math.max(length, bytes.byteLength * 2))
  larger.set(bytes)
  return larger
}

async function readStream(
  stream: ReadableStream<Uint8Array> | null,
  limit: number,
): Promise<BodyRead> {
  if (stream === null) return { kind: 'read', bytes: new Uint8Array() }
  const reader = stream.getReader()
  let bytes = new Uint8Array()
  let length = 0
  for (let chunks = 1; ; chunks += 1) {
    const { done, value } = await reader.read()
    if (done) return { kind: 'read', bytes: bytes.slice(0, length) }
    const before = length
    length += value.byteLength
    if (length > limit || isInCrumbs(chunks, length)) {
      await reader.cancel()
      return length > limit ? tooLarge : { kind: 'cut_short' }
    }
    bytes = grown(bytes, length)
    bytes.set(value, before)
  }
}
