import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { signingSecret } from './requests.ts'

const toleranceSeconds = 300
export interface StripeEvent {
  readonly id: string
  /** The whole body. */
  readonly text: string
}

/** The event of a signed callback, read as one writes it by hand: nothing of the product is in it. */
export async function readEvent(request: IncomingMessage): Promise<StripeEvent | undefined> {
  const body = await readBody(request)
  if (!isSigned(request.headers['stripe-signature']?.toString(), body)) return undefined
  const text = body.toString()
  const { id } = JSON.parse(text) as { readonly id: string }
  return { id, text }
}

function isSigned(header: string | undefined, body: Buffer): boolean {
  const [, timestamp, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header ?? '') ?? []
  if (timestamp === undefined || signature === undefined) return false
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds) return false
  const expected = createHmac('sha256', signingSecret).update(`${timestamp}.`).update(body).digest()
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'))
}

function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((read, failed) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => read(Buffer.concat(chunks)))
    request.on('error', failed)
  })
}
