import { createServer, type IncomingMessage } from 'node:http'
import { readEvent, type StripeEvent } from './verify-plainly.ts'

const headers = { 'content-type': 'application/json', 'content-length': '16' }

/**
 * Serves signed callbacks on a free port and tells the bench where: 200 once what is to be done
 * with the event is done, 403 for a wrong signature.
 */
export function serve(
  handle: (event: StripeEvent, request: IncomingMessage) => Promise<void> | void,
): void {
  const answer = async (request: IncomingMessage): Promise<200 | 403> => {
    const event = await readEvent(request)
    if (event === undefined) return 403
    await handle(event, request)
    return 200
  }
  const server = createServer((request, response) => {
    void answer(request).then((status) =>
      response.writeHead(status, headers).end('{"message":"ok"}'),
    )
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (typeof address !== 'object' || address === null) throw new Error('no port was opened')
    process.stdout.write(`{"url":"http://127.0.0.1:${address.port}"}\n`)
  })
}
