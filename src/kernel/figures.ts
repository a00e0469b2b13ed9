const steps = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const

/** How long, roughly: `12 ms`, `4 min`, `2 d`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds / 1_000)
  if (seconds < 1) return `${Math.round(seconds * 1_000)} ms`
  const [unit, length] = steps.find(([, one]) => seconds >= one) ?? ['s', 1]
  if (unit === 's' && seconds < 10) return `${seconds.toFixed(1)} s`
  return `${Math.floor(seconds / length)} ${unit}`
}

const grouped = new Intl.NumberFormat('en')

/** A number with a comma at each thousand. */
export function number(value: number | bigint): string {
  return grouped.format(value)
}

/** A count that ends at 10,000. */
export function count(value: number): string {
  return value > 10_000 ? '10,000+' : number(value)
}
