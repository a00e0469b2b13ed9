import type { DuePayments } from '../database/due-payments.ts'

type Order = keyof DuePayments

/**
 * Whose turn it is, again and again: however many are due, a young payment never waits for those
 * that nobody will pay, and none waits for ever.
 */
const turns: readonly Order[] = ['unanswered', 'youngest', 'longestDue', 'youngest']
/** An order without more leaves its turn to the first of these that has. */
const instead: readonly Order[] = ['unanswered', 'youngest', 'longestDue']

/** Which payments are polled next, in this order, each once. */
export function inShares(due: DuePayments, most: number): readonly string[] {
  const chosen = new Set<string>()
  const chooseFrom = (order: Order) => {
    const next = due[order].find((id) => !chosen.has(id))
    if (next !== undefined) chosen.add(next)
    return next !== undefined
  }
  const all = new Set([...due.unanswered, ...due.youngest, ...due.longestDue])
  const count = Math.min(most, all.size)
  while (chosen.size < count) {
    for (const order of turns) {
      if (chosen.size < count) [order, ...instead].some(chooseFrom)
    }
  }
  return [...chosen]
}
