import {
  collectDefaultMetrics,
  Gauge,
  Registry,
  type MetricObjectWithValues,
  type MetricValueWithName,
} from '@prometheus-io/client'
import {
  counters,
  entryOf,
  histograms,
  type GaugeEntry,
  type GaugeValue,
  type MetricName,
} from './catalogue.ts'
import { sum, unbounded, type Numbers, type Slot } from './slots.ts'

type Value = MetricValueWithName<string>
type Read = MetricObjectWithValues<Value>

export interface MetricsOptions {
  readonly numbers: Numbers
  readonly gauges: Readonly<Record<string, GaugeEntry>>
  readGauges(): Promise<readonly GaugeValue[]>
}

const prefix = 'quittance_'

/** Of the client's metrics of Node: `promtool check metrics` refuses their names. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_utilization_histogram',
  'nodejs_eventloop_utilization_summary',
] as const

/**
 * All metrics of this process as Prometheus asks for them: its counters, the gauges of the database,
 * and what Node knows of itself.
 */
export function createMetrics({ numbers, gauges, readGauges }: MetricsOptions): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of misnamed) registry.removeSingleMetric(name)
  const add = (
    metric: Pick<Read, 'name' | 'help' | 'type'>,
    read: () => Value[] | Promise<Value[]>,
  ) => {
    // Of several processes, whose sum is asked for: gauges are the same for all of them.
    const aggregator = metric.type === 'gauge' ? 'first' : 'sum'
    const described = {
      ...metric,
      name: prefix + metric.name,
      aggregator,
      collect: () => {},
    } as const
    // The client's classes count by themselves, each in its own way. Of a gauge, only `get` is read:
    // the replacement returns what is counted elsewhere, for any type of metric.
    const get = async (): Promise<Read> => ({ ...described, values: await read() })
    const gauge = new Gauge<string>({ ...described, registers: [] })
    registry.registerMetric(Object.assign(gauge, { get }))
  }
  const slotsOf = (name: string) => [...numbers.slots()].filter(({ metric }) => metric === name)
  for (const [name, { help }] of Object.entries(counters)) {
    add({ name, help, type: 'counter' }, () => slotsOf(name).map(counterValue))
  }
  for (const [name, { help }] of Object.entries(histograms)) {
    add({ name, help, type: 'histogram' }, () => histogramValues(slotsOf(name)))
  }
  for (const [name, { help }] of Object.entries(gauges)) {
    add({ name, help, type: 'gauge' }, async () =>
      (await readGauges())
        .filter((gauge) => gauge.name === name)
        .map(({ labels, value }) => ({ labels: { ...labels }, value })),
    )
  }
  return registry
}

function labelsOf(metric: MetricName, values: readonly string[]): Record<string, string> {
  const { labels } = entryOf(metric)
  return Object.fromEntries(labels.map((label, index) => [label, values[index] ?? '']))
}

function counterValue({ metric, labels, value }: Slot): Value {
  return { labels: labelsOf(metric, labels), value }
}

/** Each bucket counts what the smaller ones count, too. The slots of one histogram follow each other. */
function histogramValues(slots: readonly Slot[]): Value[] {
  const values: Value[] = []
  let counted = 0
  for (const { metric, labels, value } of slots) {
    const bound = labels.at(-1)
    const named = labelsOf(metric, labels)
    const name = prefix + metric
    if (bound === sum) {
      values.push({ metricName: `${name}_sum`, labels: named, value })
      continue
    }
    if (bound === undefined) continue
    counted += value
    values.push({ metricName: `${name}_bucket`, labels: { le: bound, ...named }, value: counted })
    if (bound !== unbounded) continue
    values.push({ metricName: `${name}_count`, labels: named, value: counted })
    counted = 0
  }
  return values
}
