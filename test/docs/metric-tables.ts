import { counters, gauges, histograms } from '../../src/numbers/catalogue.ts'
import type { GatewayTable } from './gateway-tables.ts'

const page = 'docs/metrics.md'

type Metrics = Readonly<
  Record<string, { readonly help: string; readonly labels: readonly string[] }>
>

function rowsOf(metrics: Metrics, says: string): GatewayTable['rows'] {
  const rows = Object.entries(metrics).map(([name, { help, labels }]) => [
    `\`quittance_${name}\``,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ])
  return [['Metric', 'Labels', says], ...rows]
}

/** The tables of the metrics, each under its heading. */
export const metricTables: readonly GatewayTable[] = [
  { page, under: 'Counters', rows: rowsOf(counters, 'Counts') },
  { page, under: 'Times', rows: rowsOf(histograms, 'Measures') },
  { page, under: 'Gauges', rows: rowsOf(gauges, 'Says') },
]
