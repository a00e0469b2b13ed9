/** The load generator, in a process of its own. It signs its requests before anything is measured. */
import { setTimeout as pause } from 'node:timers/promises'
import { runConnection } from './connection.ts'
import type { LoadOrder, LoadResult, SignOrder } from './load.ts'
import { makeRequests, type SignedRequest } from './requests.ts'
import { quantile } from './statistics.ts'

let requests: readonly SignedRequest[] = []
/** Goes on where the last round ended: no request is sent twice before all were sent once. */
let sent = 0

process.on('message', (order: LoadOrder | SignOrder) => {
  void follow(order).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})

async function follow(order: LoadOrder | SignOrder): Promise<LoadResult | 'signed'> {
  if (order.kind === 'send') return send(order)
  requests = makeRequests(order.payments)
  sent = 0
  return 'signed'
}

async function send(order: LoadOrder): Promise<LoadResult> {
  const { hostname, port } = new URL(order.url)
  const durations: number[] = []
  const answeredAt: Record<string, number> = {}
  const startedAt = Date.now()
  const next = nextRequest(order)
  let refused = 0
  const answered = (status: number, durationMs: number, { payment }: SignedRequest) => {
    if (status !== 200) refused += 1
    else durations.push(durationMs)
    if (order.perSecond !== undefined)
      answeredAt[payment] = performance.timeOrigin + performance.now()
  }
  const traffic = { host: hostname, port: Number(port), next, answered }
  const begun = performance.now()
  await Promise.all(Array.from({ length: order.connections }, () => runConnection(traffic)))
  const elapsedMs = performance.now() - begun
  durations.sort((a, b) => a - b)
  return {
    accepted: durations.length,
    refused,
    perSecond: (durations.length / elapsedMs) * 1000,
    p50Ms: quantile(durations, 0.5),
    p99Ms: quantile(durations, 0.99),
    startedAt,
    answeredAt,
  }
}

/** At a pace, each request has its own moment; otherwise it is sent as soon as a connection is free. */
function nextRequest({ milliseconds, perSecond }: LoadOrder) {
  const begun = performance.now()
  const end = milliseconds === undefined ? Infinity : begun + milliseconds
  const first = sent
  return async (): Promise<SignedRequest | undefined> => {
    const isRepeated = milliseconds !== undefined && perSecond === undefined
    if (performance.now() >= end || (!isRepeated && sent >= requests.length)) return undefined
    const index = sent++
    if (perSecond !== undefined) {
      const due = begun + ((index - first) * 1000) / perSecond
      await pause(Math.max(0, due - performance.now()))
    }
    return requests[index % requests.length]
  }
}
