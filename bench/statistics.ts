/** What several rounds gave. */
export interface Measured {
  readonly median: number
  readonly least: number
  readonly most: number
}

/** Of values in ascending order. */
export function quantile(sorted: readonly number[], fraction: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN
}

export function measured(values: readonly number[]): Measured {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const around = sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1)
  return {
    median: around.reduce((sum, value) => sum + value, 0) / around.length,
    least: sorted.at(0) ?? Number.NaN,
    most: sorted.at(-1) ?? Number.NaN,
  }
}
