import {
  buckets,
  entryOf,
  type CounterName,
  type LabelsOf,
  type MetricName,
  type HistogramName,
} from './catalogue.ts'

/** One number that only grows, while this process lives. */
export interface Slot {
  readonly metric: MetricName
  /** In the order of the metric's labels; of a histogram, the bucket or `sum` comes last. */
  readonly labels: readonly string[]
  value: number
}

/** How long something took, by buckets. */
export interface Histogram {
  observe(seconds: number): void
}

/**
 * The numbers of this process. What happens often gets its slot once and adds to it; what happens
 * seldom names its metric.
 */
export interface Numbers {
  slot<Name extends CounterName>(name: Name, labels: LabelsOf<Name>): Slot
  add<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by?: number): void
  histogram<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>): Histogram
  /** All that there are by now. */
  slots(): IterableIterator<Slot>
}

/** Values of an open label at most, of one metric and gateway; a stranger may choose them. */
const mostValues = 32
const everythingElse = 'other'

/** What is above the last bound. */
export const unbounded = '+Inf'
/** The sum of what was timed, in place of a bucket. */
export const sum = 'sum'

export function createNumbers(): Numbers {
  const slots = new Map<string, Slot>()
  const histograms = new Map<string, Histogram>()
  const bounded = boundOpenLabels()

  function slotOf(metric: MetricName, labels: readonly string[]): Slot {
    const key = keyOf(metric, labels)
    const known = slots.get(key)
    if (known !== undefined) return known
    const made = { metric, labels, value: 0 }
    slots.set(key, made)
    return made
  }
  function labelsOf(name: MetricName, labels: Readonly<Record<string, string>>): readonly string[] {
    return bounded(
      name,
      entryOf(name).labels.map((label) => storable(labels[label] ?? '')),
    )
  }
  const slot: Numbers['slot'] = (name, labels) => slotOf(name, labelsOf(name, labels))
  return {
    slot,
    add(name, labels, by = 1) {
      slot(name, labels).value += by
    },
    histogram(name, labels) {
      const values = labelsOf(name, labels)
      const key = keyOf(name, values)
      const known = histograms.get(key)
      if (known !== undefined) return known
      const made = histogramOf((last) => slotOf(name, [...values, last]))
      histograms.set(key, made)
      return made
    },
    slots: () => slots.values(),
  }
}

const longestLabel = 100

/** A gateway of somebody's own gives reasons in any words: the database takes no control characters. */
function storable(text: string): string {
  return text
    .slice(0, longestLabel)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '\u{fffd}')
}

function keyOf(metric: MetricName, labels: readonly string[]): string {
  return [metric, ...labels].join('\n')
}

function histogramOf(slotFor: (last: string) => Slot): Histogram {
  const bounds = [...buckets.map(String), unbounded].map(slotFor)
  const total = slotFor(sum)
  return {
    observe(seconds) {
      // Beyond the last bound it is -1, which is the last place.
      const slot = bounds.at(buckets.findIndex((bound) => seconds <= bound))
      if (slot !== undefined) slot.value += 1
      total.value += seconds
    },
  }
}

/** Replaces values of open labels beyond the first ones. */
function boundOpenLabels() {
  const seen = new Map<string, Set<string>>()
  return (name: MetricName, values: readonly string[]): readonly string[] => {
    const { labels, open } = entryOf(name)
    if (open === undefined) return values
    const place = labels.indexOf(open)
    const key = keyOf(name, values.slice(0, place))
    const known = seen.get(key) ?? new Set()
    seen.set(key, known)
    const value = values[place] ?? ''
    if (known.has(value)) return values
    if (known.size >= mostValues) return values.with(place, everythingElse)
    known.add(value)
    return values
  }
}
