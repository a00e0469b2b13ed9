/** How often something was refused for one reason. */
export interface ReasonCount {
  readonly reason: string
  readonly count: number
}

interface Counted {
  readonly metric: string
  readonly label: string
  readonly value: number
}

/**
 * Callbacks that were not answered 200, by reason, the most frequent first: why the check failed, or
 * else how they were answered. A callback that could not be checked was answered `unavailable`, and
 * has a reason of its own: it counts once.
 */
export function refusalsOf(counted: readonly Counted[]): readonly ReasonCount[] {
  const reasons = sums(counted.filter(({ metric }) => metric === 'callbacks_refused_total'))
  const answers = sums(counted.filter(({ metric }) => metric === 'callbacks_total'))
  const withReason = [...reasons.values()].reduce((sum, value) => sum + value, 0)
  const unchecked = Math.max(0, withReason - (answers.get('refused') ?? 0))
  const unavailable = Math.max(0, (answers.get('unavailable') ?? 0) - unchecked)
  const others = [...answers].filter(([answer]) => !['accepted', 'refused'].includes(answer))
  const all = sums([
    ...[...reasons].map(([label, value]) => ({ label, value })),
    ...others.map(([label, value]) => ({
      label,
      value: label === 'unavailable' ? unavailable : value,
    })),
  ])
  return [...all]
    .map(([reason, count]) => ({ reason, count }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1))
}

function sums(counted: readonly Pick<Counted, 'label' | 'value'>[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const { label, value } of counted) found.set(label, (found.get(label) ?? 0) + value)
  return found
}

/** The sum of these labels of a metric. */
export function sumOf(
  counted: readonly Counted[],
  metric: string,
  isSought: (label: string) => boolean = () => true,
): number {
  return counted
    .filter((one) => one.metric === metric && isSought(one.label))
    .reduce((sum, { value }) => sum + value, 0)
}
