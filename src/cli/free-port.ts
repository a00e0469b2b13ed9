import { createServer } from 'node:net'

/** A free port: generated URLs need its number before the service listens. */
export function freePort(host: string): Promise<number> {
  return new Promise((found, failed) => {
    const server = createServer()
    server.once('error', failed)
    server.listen(0, host, () => {
      const address = server.address()
      server.close(() => found(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
}
