import type { Registry } from '@prometheus-io/client'
import { gauges, readGauges } from '../health/gauges.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import { makeOnce } from '../kernel/make-once.ts'
import { within } from '../kernel/within.ts'
import type { GaugeValue } from '../numbers/catalogue.ts'
import type { OpenDatabase } from '../database/open-database.ts'
import type { Numbers } from '../numbers/slots.ts'
import type { ServiceSettings } from './settings.ts'

/** However many ask, the database is asked this often. */
const gaugesEvery: Duration = seconds(5)
/** Whoever asks does not wait longer: the counters are worth something without them. */
const gaugesWithin: Duration = seconds(2)
const late = () => new Error(`the database did not answer within ${gaugesWithin / 1000} s`)

interface MetricsSource {
  readonly settings: ServiceSettings
  readonly numbers: Numbers
  opened(): Promise<OpenDatabase>
}

/** The metrics of this process; the client is loaded when they are first asked for. */
export function metricsOf({ settings, numbers, opened }: MetricsSource) {
  const names = settings.gateways.list().map(({ gateway }) => gateway.name)
  const read = every(gaugesEvery, async (): Promise<readonly GaugeValue[]> => {
    const warn = (error: unknown) =>
      settings.log.warn({ err: error }, 'the gauges could not be read')
    try {
      return await within(gaugesWithin, late, async () => {
        const { database } = await opened()
        return [...(await readGauges(database, names, warn)), up(1)]
      })
    } catch (error) {
      warn(error)
      return [up(0)]
    }
  })
  return makeOnce(async (): Promise<Registry> => {
    const { createMetrics } = await import('../numbers/prometheus.ts')
    return createMetrics({ numbers, gauges, readGauges: read })
  })
}

function up(value: 0 | 1): GaugeValue {
  return { name: 'database_up', labels: {}, value }
}

/** The same answer for that long; those who ask meanwhile share one question. */
function every<T>(length: Duration, ask: () => Promise<T>): () => Promise<T> {
  let asked = -Infinity
  let answer: Promise<T> | undefined
  return () => {
    const now = performance.now()
    if (answer === undefined || now - asked > length) {
      asked = now
      answer = ask()
    }
    return answer
  }
}
