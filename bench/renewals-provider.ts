import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The gateway that leads to it. */
export const gatewayName = 'bench'

/** A provider that takes every charge at once, and counts. */
export interface RenewalsProvider {
  readonly base: string
  /** Requests by payment. */
  readonly asked: ReadonlyMap<string, number>
  /** When all processes were there. */
  readonly begun: Promise<Date>
  close(): Promise<void>
}

/** It lets the processes begin once that many are there. */
export async function startProvider(processes: number): Promise<RenewalsProvider> {
  const asked = new Map<string, number>()
  const begun = Promise.withResolvers<Date>()
  let there = 0
  const server = createServer((request, response) => {
    const [, what, id = ''] = request.url?.split('/') ?? []
    request.resume()
    if (what === 'ready') {
      there += 1
      if (there === processes) begun.resolve(new Date())
      void begun.promise.then(() => response.end('{}'))
      return
    }
    asked.set(id, (asked.get(id) ?? 0) + 1)
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    base: `http://127.0.0.1:${port}`,
    asked,
    begun: begun.promise,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
