import type { Worker } from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
import type { Metrics } from '../billing/types.ts'
import { seconds } from '../kernel/duration.ts'
import { hasFields } from '../kernel/has-fields.ts'

const name = 'quittance metrics'
/** Processes that do not answer are left out before. */
const longest = seconds(10)

/** What all processes have counted together, as their supervisor knows it. */
export async function openClusterMetrics(): Promise<() => Promise<Metrics>> {
  const { ClusterRegistry } = await import('@prometheus-io/client')
  const registry = new ClusterRegistry()
  return async () => ({
    contentType: registry.contentType,
    text: await registry.clusterMetrics(),
  })
}

/** In the supervisor: answers this process whenever it asks. */
export function answerMetrics(worker: Worker, read: () => Promise<Metrics>): void {
  worker.on('message', (message: unknown) => {
    const question = messageIn(message)
    if (question === undefined) return
    const answer = (metrics: Metrics | undefined) => {
      // It may have ended meanwhile; whoever asked it asks again.
      worker.send({ name, id: question.id, metrics }, () => {})
    }
    read().then(answer, () => answer(undefined))
  })
}

let asked = 0

/** In one of its processes: asks the supervisor for the metrics of all. */
export async function askForMetrics(): Promise<Metrics> {
  asked += 1
  const id = asked
  const answered = Promise.withResolvers<Metrics>()
  const hear = (message: unknown) => {
    const answer = messageIn(message)
    if (answer?.id !== id) return
    if (answer.metrics !== undefined) answered.resolve(answer.metrics)
    else answered.reject(new Error('the supervisor could not read the metrics of all processes'))
  }
  const late = new AbortController()
  process.on('message', hear)
  try {
    process.send?.({ name, id })
    return await Promise.race([answered.promise, failLate(late.signal)])
  } finally {
    process.off('message', hear)
    late.abort()
  }
}

async function failLate(signal: AbortSignal): Promise<never> {
  await pause(longest, undefined, { signal, ref: false })
  throw new Error('the supervisor did not answer with the metrics of all processes')
}

interface MetricsMessage {
  readonly id: number
  /** Of an answer; undefined: they could not be read. */
  readonly metrics?: Metrics
}

/** Undefined: it is about something else. Nobody but these processes has the channel. */
function messageIn(message: unknown): MetricsMessage | undefined {
  const isOurs = hasFields(message) && Reflect.get(message, 'name') === name
  return isOurs ? (message as MetricsMessage) : undefined
}
