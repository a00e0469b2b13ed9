/** The load generator, in a process of its own. It signs its requests before anything is measured. */
import { runConnection } from './connection.ts'
import type { LoadOrder, LoadResult } from './load.ts'
import { makeRequests } from './requests.ts'
import { quantile } from './statistics.ts'

const requests = makeRequests(Number(process.argv[2]))
/** Goes on where the last round ended: no request is sent twice before all were sent once. */
let sent = 0

process.on('message', (order: LoadOrder) => {
  void run(order).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.send?.('ready')

async function run({ url, milliseconds, connections }: LoadOrder): Promise<LoadResult> {
  const { hostname, port } = new URL(url)
  const durations: number[] = []
  let refused = 0
  const startedAt = performance.now()
  const traffic = {
    host: hostname,
    port: Number(port),
    next: () =>
      performance.now() - startedAt < milliseconds ? requests[sent++ % requests.length] : undefined,
    answered: (status: number, durationMs: number) => {
      if (status === 200) durations.push(durationMs)
      else refused += 1
    },
  }
  await Promise.all(Array.from({ length: connections }, () => runConnection(traffic)))
  const elapsedMs = performance.now() - startedAt
  durations.sort((a, b) => a - b)
  return {
    accepted: durations.length,
    refused,
    perSecond: (durations.length / elapsedMs) * 1000,
    p50Ms: quantile(durations, 0.5),
    p99Ms: quantile(durations, 0.99),
  }
}
