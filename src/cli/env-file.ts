/** What a file such as `.env` says. */
export interface EnvFile {
  /** Up to the fault, if there is one. */
  readonly values: ReadonlyMap<string, string>
  /** The first line that cannot be read as it was meant, and why. */
  readonly fault: { readonly line: number; readonly reason: string } | undefined
}

const blank = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y
const assigned = /[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=/y
const plain = /[ \t]*((?:[^ \t\n"'`#][^\n#]*?)?)(?:[ \t]+#[^\n]*|[ \t]*)(?:\n|$)/y
/** In these, `\n` is the end of a line. */
const double = /[ \t]*"([^"]*)"[ \t]*(?:#[^\n]*)?(?:\n|$)/y
const single = /[ \t]*'([^']*)'[ \t]*(?:#[^\n]*)?(?:\n|$)/y
const back = /[ \t]*`([^`]*)`[ \t]*(?:#[^\n]*)?(?:\n|$)/y
const quote = /[ \t]*["'`]/y
/** But the tab. A carriage return that ends no line is one, too. */
const controlCharacter = /[^\P{Cc}\t\n]/u

const forms =
  'allowed are NAME=value, NAME="a value" (of several lines, too), a comment that begins with #, ' +
  'and an empty line'

/**
 * As Node reads it, but nothing is skipped or cut in silence: a `#` inside a value without quotes,
 * and a text after quotes, are faults. Error: `TypeError` if the bytes are not UTF-8.
 */
export function readEnvFile(bytes: Uint8Array): EnvFile {
  // The decoder skips a byte order mark.
  const decoded = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  const text = decoded.replaceAll('\r\n', '\n')
  const values = new Map<string, string>()
  const failed = (at: number, reason: string): EnvFile => {
    return { values, fault: { line: text.slice(0, at).split('\n').length, reason } }
  }
  const odd = text.search(controlCharacter)
  if (odd !== -1) return failed(odd, `it contains a control character; ${forms}`)
  for (let at = 0; at < text.length;) {
    const read = (pattern: RegExp) => {
      pattern.lastIndex = at
      const found = pattern.exec(text)
      if (found !== null) at = pattern.lastIndex
      return found?.[1] ?? found?.[0]
    }
    const begun = at
    if (read(blank) !== undefined) continue
    const name = read(assigned)
    if (name === undefined) return failed(begun, `it cannot be read; ${forms}`)
    const value =
      read(double)?.replaceAll(String.raw`\n`, '\n') ?? read(single) ?? read(back) ?? read(plain)
    if (value === undefined) {
      const why = read(quote) === undefined ? cutByComment : badlyQuoted
      return failed(begun, `the value of ${name} ${why}`)
    }
    values.set(name, value)
  }
  return { values, fault: undefined }
}

const cutByComment =
  'would be cut at its #: put the value into quotes, or a blank in front of the comment'
const badlyQuoted = 'must begin and end with the same quote, with nothing after it but a comment'
