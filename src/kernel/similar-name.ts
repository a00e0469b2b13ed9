/** The name that was probably meant: at most two letters away, however its words are joined. */
export function similarName(name: string, known: Iterable<string>): string | undefined {
  const [closest] = Array.from(known, (one) => ({
    one,
    apart: lettersApart(plain(name), plain(one)),
  }))
    .filter(({ apart }) => apart <= 2)
    .toSorted((a, b) => a.apart - b.apart)
  return closest?.one
}

/** For an unknown name: the one that was probably meant, and the known ones. */
export function choiceAmong(name: string, known: readonly string[]): string {
  const meant = similarName(name, known)
  const question = meant === undefined ? '; there' : `; did you mean ${meant}? There`
  return `${question} are ${known.join(', ')}`
}

function plain(name: string): string {
  return name.replaceAll('_', '').toLowerCase()
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
