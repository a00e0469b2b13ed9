import { gauges } from '../../src/health/gauges.ts'
import { counters, histograms } from '../../src/numbers/catalogue.ts'

/** One of our metrics as an expression names it. */
export interface NamedMetric {
  readonly name: string
  /** The labels of its matchers, and the values they are compared with. */
  readonly matchers: readonly (readonly [label: string, value: string])[]
}

interface Known {
  readonly labels: readonly string[]
}

/** What Prometheus adds to everything that it reads. */
const targetLabels = ['instance', 'job']
const suffixes = ['_bucket', '_sum', '_count'] as const

/** Every name that /metrics has of ours, with its labels. */
export const knownMetrics: ReadonlyMap<string, readonly string[]> = new Map([
  ...named({ ...counters, ...gauges }).map(([name, labels]) => [name, labels] as const),
  ...named(histograms).flatMap(([name, labels]) =>
    suffixes.map((end) => [name + end, end === '_bucket' ? [...labels, 'le'] : labels] as const),
  ),
])

function named(metrics: Readonly<Record<string, Known>>) {
  return Object.entries(metrics).map(
    ([name, { labels }]) => [`quittance_${name}`, [...labels, ...targetLabels]] as const,
  )
}

/** Good enough for our own style: no `}` stands inside a matcher. */
export function metricsOf(expr: string): readonly NamedMetric[] {
  return Array.from(
    expr.matchAll(/\b(quittance_\w+)(?:\{([^}]*)\})?/g),
    ([, name = '', inside]) => ({
      name,
      matchers: Array.from(
        (inside ?? '').matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g),
        ([, label = '', value = '']) => [label, value] as const,
      ),
    }),
  )
}

/** The names that are not ours: of Node, of its process. */
export function otherMetricsOf(expr: string): readonly string[] {
  return Array.from(expr.matchAll(/\b(?:nodejs|process)_\w+/g), ([name]) => name)
}

interface Grouping {
  readonly labels: readonly string[]
  /** What is grouped by them. */
  readonly of: string
}

/** Each `by (...) (...)`, the inner ones too. */
export function groupingsOf(expr: string): readonly Grouping[] {
  return Array.from(expr.matchAll(/\bby \(([^)]*)\)\s*/g), ({ index, 0: by, 1: inside = '' }) => ({
    labels: inside.split(',').map((label) => label.trim()),
    of: parenthesized(expr.slice(index + by.length)),
  }))
}

function parenthesized(text: string): string {
  let depth = 0
  for (const [place, letter] of Array.from(text).entries()) {
    if (letter === '(') depth += 1
    if (letter === ')') depth -= 1
    if (depth === 0) return text.slice(0, place + 1)
  }
  return text
}

/** What is wrong with the names of an expression, a sentence each. */
export function faultsOf(expr: string): readonly string[] {
  const metrics = metricsOf(expr)
  const unknown = metrics
    .filter(({ name }) => !knownMetrics.has(name))
    .map(({ name }) => `there is no metric ${name}`)
  const matched = metrics.flatMap(({ name, matchers }) =>
    missingLabels(
      name,
      matchers.map(([label]) => label),
    ),
  )
  const grouped = groupingsOf(expr).flatMap(({ labels, of }) =>
    metricsOf(of).flatMap(({ name }) => missingLabels(name, labels)),
  )
  return [...new Set([...unknown, ...matched, ...grouped])]
}

function missingLabels(name: string, labels: readonly string[]): readonly string[] {
  const known = knownMetrics.get(name)
  if (known === undefined) return []
  return labels
    .filter((label) => !known.includes(label))
    .map((label) => `${name} has no label ${label}`)
}
