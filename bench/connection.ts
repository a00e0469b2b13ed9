import { connect, type Socket } from 'node:net'
import type { SignedRequest } from './requests.ts'

/** What one connection carries: a request, its answer, the next request. */
export interface Traffic {
  readonly host: string
  readonly port: number
  /** The next request, when it is its turn; undefined: enough. */
  next(): Promise<SignedRequest | undefined>
  answered(status: number, durationMs: number, request: SignedRequest): void
}

/**
 * Sends requests one after the other over one connection until there is none any more. Reads of an
 * answer only its status and its length, so that the load costs little beside what it measures.
 * A server may announce that it closes the connection: then a new one goes on.
 */
export function runConnection(traffic: Traffic): Promise<void> {
  return new Promise((done, failed) => {
    const open = () => {
      const socket = connect({ host: traffic.host, port: traffic.port, noDelay: true })
      const gone = () => failed(new Error('the server closed a connection without an answer'))
      let current: SignedRequest | undefined
      let sentAt = 0
      let received = ''
      const send = async () => {
        current = await traffic.next()
        if (current === undefined) return leave(socket, gone, done)
        sentAt = performance.now()
        socket.write(current.bytes)
      }
      socket.setEncoding('latin1')
      socket.on('connect', () => void send())
      socket.on('error', failed)
      socket.on('close', gone)
      socket.on('data', (text: string) => {
        received += text
        const answer = readAnswer(received)
        if (answer === undefined || current === undefined) return
        received = ''
        traffic.answered(answer.status, performance.now() - sentAt, current)
        if (answer.closes) leave(socket, gone, open)
        else void send()
      })
    }
    open()
  })
}

function leave(socket: Socket, gone: () => void, then: () => void): void {
  socket.off('close', gone)
  socket.destroy()
  then()
}

interface Answer {
  readonly status: number
  readonly closes: boolean
}

/** Undefined until the answer is complete. */
function readAnswer(text: string): Answer | undefined {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const head = text.slice(0, headEnd).toLowerCase()
  const complete = head.includes('transfer-encoding: chunked')
    ? text.endsWith('0\r\n\r\n')
    : text.length >= headEnd + 4 + lengthIn(head)
  if (!complete) return undefined
  return { status: Number(head.slice(9, 12)), closes: head.includes('connection: close') }
}

const lengthName = 'content-length: '

function lengthIn(head: string): number {
  const at = head.indexOf(lengthName)
  return at === -1 ? 0 : Number.parseInt(head.slice(at + lengthName.length), 10)
}
