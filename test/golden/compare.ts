import { isFields, type Structure } from './shape.ts'

/** Every end of a structure, by its path. A list of words is one end: their order counts. */
function endsOf(structure: Structure, path = ''): readonly (readonly [string, string])[] {
  if (typeof structure === 'string') return [[path, structure]]
  const isWords = (list: readonly Structure[]) => list.every((one) => typeof one === 'string')
  if (Array.isArray(structure) && isWords(structure)) return [[path, JSON.stringify(structure)]]
  const parts = Object.entries(structure)
  if (parts.length === 0) return [[path, JSON.stringify(structure)]]
  return parts.flatMap(([name, one]) => {
    const step = isFields(structure) ? name : `[${name}]`
    return endsOf(one, path === '' ? step : `${path} › ${step}`)
  })
}

/** What differs, a path a line: `-` as it was, `+` as it is. */
export function differences(was: Structure, is: Structure): readonly string[] {
  const [before, after] = [was, is].map((one) => new Map(endsOf(one)))
  const lines: string[] = []
  for (const path of new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])].toSorted())) {
    const [old, now] = [before?.get(path), after?.get(path)]
    if (old === now) continue
    if (old !== undefined) lines.push(`- ${path}: ${old}`)
    if (now !== undefined) lines.push(`+ ${path}: ${now}`)
  }
  return lines
}
