import { gauges } from '../../src/health/gauges.ts'
import { metrics } from '../../src/numbers/catalogue.ts'
import { sortedFields, type Structure } from './shape.ts'

const labelsByName = Object.fromEntries(
  Object.entries({ ...metrics, ...gauges }).map(([name, { labels }]) => [name, labels]),
)

/**
 * Each metric of ours in this text for Prometheus, with its type and labels. What is not counted yet
 * has no labels there: those are the ones that it is declared with.
 */
export function metricsStructure(text: string): Structure {
  const types = text.matchAll(/^# TYPE (quittance_(\w+)) (\w+)$/gm)
  return sortedFields(
    Array.from(types, ([, whole = '', name = '', type = '']) => {
      const samples = text.matchAll(new RegExp(`^${whole}(?:_bucket|_sum|_count)?\\{(.*)\\}`, 'gm'))
      const seen = Array.from(samples, ([, labels = '']) => labels.match(/\w+(?==")/g) ?? []).flat()
      const labels = new Set([...(labelsByName[name] ?? []), ...seen])
      return [whole, { type, labels: [...labels].toSorted() }]
    }),
  )
}
