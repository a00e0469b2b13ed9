import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

/** A request as an endpoint gets it, verified by the library of the standard. */
export interface Received {
  readonly id: string
  readonly at: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly event: ReceivedEvent
}

export interface ReceivedEvent {
  readonly id: string
  readonly type: string
  readonly position: number
  readonly superseded: boolean
  readonly data: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

type Answer = (received: Received, response: ServerResponse) => void

export interface Receiver extends AsyncDisposable {
  readonly url: string
  /** In their order; those that were answered 2xx, and the others. */
  readonly received: Received[]
  /** Ids of what was answered 2xx, each time. */
  readonly taken: string[]
  /** What did not verify. */
  readonly forged: string[]
  /** The secret that it knows. */
  secret: string
  answer: Answer
}

export const accept: Answer = (_received, response) => response.writeHead(204).end()

export function refuse(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return (_received, response) => response.writeHead(status, headers).end()
}

/** An app that takes signed events; at any free port if none is given. */
export async function startReceiver(answer: Answer = accept, port = 0): Promise<Receiver> {
  const server = createServer((request, response) => void take(request, response))
  const receiver: Omit<Receiver, 'url' | typeof Symbol.asyncDispose> = {
    received: [],
    taken: [],
    forged: [],
    secret: '',
    answer,
  }
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const headers = request.headers as Record<string, string>
    try {
      const event = new Webhook(receiver.secret).verify(body, headers) as ReceivedEvent
      const id = headers['webhook-id'] ?? ''
      const received = { id, at: Date.now(), headers, body, event }
      receiver.received.push(received)
      response.once('finish', () => {
        if (response.statusCode < 300) receiver.taken.push(id)
      })
      receiver.answer(received, response)
    } catch (error) {
      receiver.forged.push(String(error))
      response.writeHead(400).end()
    }
  }
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve)
  })
  const { port: listening } = server.address() as AddressInfo
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${listening}/hooks`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  })
}
