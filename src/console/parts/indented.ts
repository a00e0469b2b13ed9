/** A piece of a text that is cut where it gets too long. */
export interface Piece {
  readonly text: string
  /** Whether nothing was left out. */
  readonly isWhole: boolean
}

/** A string, what opens, closes or parts, or a run of anything else but white space. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"?|[{}[\],:]|[^\s"{}[\],:]+/sy
/** Deeper, the lines would be nothing but blanks. */
const deepest = 40

/**
 * A JSON text with a line for each member; each string and number stays as it is written. It need not
 * be valid: nothing is refused. Work and result are bounded by `most` characters.
 */
export function indented(text: string, most: number): Piece {
  const source = text.slice(0, most)
  const pieces: string[] = []
  let [length, depth, at] = [0, 0, 0]
  const add = (piece: string) => {
    pieces.push(piece)
    length += piece.length
  }
  const newLine = () => add(`\n${'  '.repeat(Math.min(depth, deepest))}`)
  while (length < most) {
    at += blanksAt(source, at)
    token.lastIndex = at
    const [found] = token.exec(source) ?? []
    if (found === undefined) break
    at += found.length
    if (found === '{' || found === '[') {
      add(found)
      const close = at + blanksAt(source, at)
      if (source[close] === (found === '{' ? '}' : ']')) {
        add(source[close] ?? '')
        at = close + 1
        continue
      }
      depth += 1
      newLine()
    } else if (found === '}' || found === ']') {
      depth = Math.max(0, depth - 1)
      newLine()
      add(found)
    } else if (found === ',') {
      add(found)
      newLine()
    } else add(found === ':' ? ': ' : found)
  }
  const isWhole = source.length === text.length && at + blanksAt(source, at) >= source.length
  return { text: pieces.join('').slice(0, most), isWhole: isWhole && length <= most }
}

function blanksAt(text: string, at: number): number {
  let end = at
  while (/\s/.test(text.charAt(end)) && end < text.length) end += 1
  return end - at
}
