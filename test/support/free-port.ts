import { createServer } from 'node:net'

/** A port that nobody listens on at this moment. */
export function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const server = createServer()
    server.once('error', failed)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => found(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
}
