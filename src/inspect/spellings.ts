/**
 * How a text may stand in stored JSON: as it is typed, which may be a piece of JSON, and as writers of JSON
 * escape it. Some escape slashes, some all that is not ASCII, with small or with capital digits.
 */
export function spellingsOf(text: string): readonly string[] {
  const escaped = JSON.stringify(text).slice(1, -1)
  const small = withEscapes(escaped)
  const capital = withEscapes(escaped, (digits) => digits.toUpperCase())
  const spelled = [escaped, small, capital]
  return [...new Set([text, ...spelled, ...spelled.map((one) => one.replaceAll('/', '\\/'))])]
}

/** Each half of a surrogate pair is escaped by itself. */
function withEscapes(escaped: string, write: (digits: string) => string = (digits) => digits) {
  return escaped.replace(/[\u0080-\uffff]/g, (unit) => {
    const digits = unit.charCodeAt(0).toString(16).padStart(4, '0')
    return `\\u${write(digits)}`
  })
}
