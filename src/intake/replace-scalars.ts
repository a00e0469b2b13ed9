import { endOfString } from '../gateways/body/end-of-nested.ts'

/** What replaces a string or a number, as spelt. */
type Replace = (piece: string, name: string) => string

/**
 * Replaces strings and numbers of a JSON text, or of one that should be; everything else stays as spelt. Each comes with the
 * name of its member, or of the member whose list it is in. One pass, and quick whatever the text
 * consists of: a megabyte of brackets is JSON, too.
 */
export function replaceScalars(text: string, replace: Replace): string {
  const outer: string[] = []
  const parts: string[] = []
  let name = ''
  let copied = 0
  let end = 0
  for (let at = 0; at < text.length; at = end) {
    const kind = kindOf(text.charCodeAt(at))
    end = endOf(kind, text, at)
    if (kind === 'begin') outer.push(name)
    else if (kind === 'end') name = outer.pop() ?? ''
    else if (kind === 'string' && isName(text, end)) name = nameOf(text.slice(at, end))
    else if (kind !== 'other') {
      const piece = text.slice(at, end)
      const shown = replace(piece, name)
      if (shown === piece) continue
      parts.push(text.slice(copied, at), shown)
      copied = end
    }
  }
  return parts.join('') + text.slice(copied)
}

type Kind = 'string' | 'number' | 'begin' | 'end' | 'other'

const kinds: ReadonlyMap<number, Kind> = new Map(
  Object.entries({ string: '"', number: '-0123456789', begin: '{[', end: '}]' }).flatMap(
    ([kind, first]) => Array.from(first, (one) => [one.charCodeAt(0), kind as Kind] as const),
  ),
)

function kindOf(first: number): Kind {
  return kinds.get(first) ?? 'other'
}

function endOf(kind: Kind, text: string, start: number): number {
  if (kind === 'string') return endOfString(text, start) + 1
  let end = start + 1
  if (kind === 'number') while (numberPart.has(text.charCodeAt(end))) end += 1
  return end
}

const codesOf = (characters: string) => new Set(Array.from(characters, (one) => one.charCodeAt(0)))
const numberPart = codesOf('0123456789.eE+-')
const space = codesOf(' \t\n\r')
const [colon] = codesOf(':')

/** Whether what follows a string that ends there makes it the name of a member. */
function isName(text: string, end: number): boolean {
  let at = end
  while (space.has(text.charCodeAt(at))) at += 1
  return text.charCodeAt(at) === colon
}

function nameOf(piece: string): string {
  if (!piece.includes('\\')) return piece.slice(1, -1)
  try {
    return String(JSON.parse(piece))
  } catch {
    // It is not known yet whether the text is JSON.
    return piece
  }
}
