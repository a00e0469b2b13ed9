import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A request that a stand-in was asked. */
export interface AskedRequest {
  readonly method: string
  /** Path and query, below the base. */
  readonly target: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** What a stand-in answers: a status (200) and a body, given as text or as what becomes JSON. */
export interface StandInReply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** A provider's API on this machine, over real HTTP. */
export interface StandIn {
  /** For the gateway's `api_base`. */
  readonly base: string
  /** Everything that it was asked, in order. */
  readonly requests: readonly AskedRequest[]
  close(): Promise<void>
}

/** Answers each request as `answer` says; undefined is a 404, `hang` never comes, and `hung` hears it. */
export async function startStandIn(
  answer: (request: AskedRequest) => StandInReply | 'hang' | undefined,
  hung: () => void = () => {},
): Promise<StandIn> {
  const requests: AskedRequest[] = []
  const server = createServer((incoming, response) => {
    void text(incoming).then((body) => {
      const { method = '', url: target = '', headers } = incoming
      const request = { method, target, headers, body }
      requests.push(request)
      const reply = answer(request)
      if (reply === 'hang') return hung()
      const { status = 200, headers: more = {}, body: content } = reply ?? { status: 404, body: {} }
      response.writeHead(status, { 'content-type': 'application/json', ...more })
      response.end(typeof content === 'string' ? content : JSON.stringify(content))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    base: `http://127.0.0.1:${port}`,
    requests,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
