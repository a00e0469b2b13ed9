import type { Endpoint } from '../events/endpoint.ts'
import { seconds } from '../kernel/duration.ts'
import type { Secret } from '../kernel/secret.ts'
import type { Connections } from './connect.ts'
import { scrubOf } from './scrub-answer.ts'
import { send, type Sent } from './send.ts'
import { signedHeaders } from './sign.ts'

/** What a test sends: it is no event, and in no feed. */
export const testType = 'EndpointTest'

interface TestOf {
  readonly endpoint: Endpoint
  readonly secrets: readonly Secret[]
  readonly id: string
  readonly now: Date
  /** Blanks out known secrets. */
  scrub(text: string): string
}

/** One signed request to see whether an endpoint takes it. */
export function sendTest(
  { endpoint, secrets, id, now, ...of }: TestOf,
  connections: Connections,
): Promise<Sent> {
  const body = JSON.stringify({ id, type: testType, timestamp: now.toISOString(), data: {} })
  const headers = { ...signedHeaders({ id, body }, secrets, now) }
  const timeout = seconds(endpoint.timeoutSeconds)
  const never = new AbortController().signal
  const scrub = scrubOf(secrets, of)
  return send({ url: endpoint.url, headers, body, timeout, scrub }, connections, never)
}
