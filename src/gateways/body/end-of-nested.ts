const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/**
 * The position after the JSON object or list that begins at `start`, found many times faster than
 * by parsing it: the brackets must match, and nothing else is checked. Undefined if it does not
 * end.
 */
export function endOfNested(
  text: string,
  start: number,
  deepest: number,
): number | 'too_deep' | undefined {
  const closers: number[] = []
  for (let at = start; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === quote) {
      at = endOfString(text, at)
    } else if (character === openBrace || character === openBracket) {
      if (closers.length === deepest) return 'too_deep'
      closers.push(character === openBrace ? closeBrace : closeBracket)
    } else if (character === closeBrace || character === closeBracket) {
      if (closers.pop() !== character) return undefined
      if (closers.length === 0) return at + 1
    }
  }
  return undefined
}

/**
 * The position of the quote that ends the JSON string that begins at `start`; the text's end if
 * there is none.
 */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1
  return backslashes % 2 === 1
}
