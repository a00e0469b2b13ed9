import { gauges } from '../../src/health/gauges.ts'
import { counters, histograms } from '../../src/numbers/catalogue.ts'
import { code, codes, type Table } from './table.ts'

const page = 'docs/metrics.md'

type Metrics = Readonly<
  Record<string, { readonly help: string; readonly labels: readonly string[] }>
>

function rowsOf(metrics: Metrics, says: string): Table['rows'] {
  const rows = Object.entries(metrics).map(([name, { help, labels }]) => [
    code(`quittance_${name}`),
    codes(labels),
    help,
  ])
  return [['Metric', 'Labels', says], ...rows]
}

/** The tables of the metrics, each under its heading. */
export const metricTables: readonly Table[] = [
  { page, under: 'Counters', rows: rowsOf(counters, 'Counts') },
  { page, under: 'Times', rows: rowsOf(histograms, 'Measures') },
  { page, under: 'Gauges', rows: rowsOf(gauges, 'Says') },
]
