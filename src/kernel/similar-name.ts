/** The name that was probably meant: at most two letters away. */
export function similarName(name: string, known: Iterable<string>): string | undefined {
  const [closest] = Array.from(known, (one) => ({ one, apart: lettersApart(name, one) }))
    .filter(({ apart }) => apart <= 2)
    .toSorted((a, b) => a.apart - b.apart)
  return closest?.one
}

/** Letters to add, drop or change (Levenshtein). */
function lettersApart(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [row, letter] of a.split('').entries()) {
    const current = [row + 1]
    for (let at = 1; at <= b.length; at += 1) {
      const changed = (previous[at - 1] ?? 0) + (letter === b[at - 1] ? 0 : 1)
      current.push(Math.min(changed, (previous[at] ?? 0) + 1, (current[at - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
