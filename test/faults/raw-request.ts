import { connect, type Socket } from 'node:net'

/** A connection on which a service has begun with a request and waits for its body. */
export interface BegunRequest {
  readonly socket: Socket
  /** All that came after `100 Continue`, once the connection is closed. */
  readonly answer: Promise<string>
}

export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await new Promise((connected) => socket.once('connect', connected))
  return socket
}

/** The head of a fake callback. */
export function headOf(contentLength: number, headers: readonly string[] = []): string {
  const lines = ['host: test', `content-length: ${contentLength}`, ...headers]
  return `POST /billing/webhooks/fake HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
}

const goOn = 'HTTP/1.1 100 Continue\r\n\r\n'

/**
 * Sends the head of a fake callback and waits until the service asks for the body. That the
 * connection is open says nothing of the service: the kernel takes it alone.
 */
export async function beginRequest(url: string, contentLength: number): Promise<BegunRequest> {
  const socket = await openSocket(url)
  const asked = Promise.withResolvers<void>()
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
    if (text.startsWith(goOn)) asked.resolve()
  })
  const answer = new Promise<string>((closed) => {
    socket.once('close', () => {
      asked.reject(new Error(`the service did not ask for the body, but said: ${text}`))
      closed(text.slice(goOn.length))
    })
  })
  socket.write(headOf(contentLength, ['content-type: application/json', 'expect: 100-continue']))
  await asked.promise
  return { socket, answer }
}
