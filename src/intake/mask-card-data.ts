/** Values that nobody may keep, or that are as good as a key: hidden whole, or a card's middle. */
const secretNames =
  'client_?secret|(?:card_?)?(?:cv[vc]2?|cvn|csc|security_?code|verification_?(?:code|value))'
const cardNames = 'card_?(?:number|num|no)|pan|primary_?account_?number'

/**
 * A member of one of these names with a text or a number: what is before the value, and the name.
 * `quote` is how quotes are spelt there.
 */
const namedValue = (quote: string, text: string) =>
  new RegExp(
    String.raw`(${quote}(${secretNames}|${cardNames})${quote}\s*:\s*)(?:${text}|\d[\d.eE+-]*)`,
    'gi',
  )
// Runs in one step each: one character at a time, megabytes of them would exhaust the stack.
const ownMember = namedValue('"', String.raw`"(?!")[^"\\]*(?:\\.[^"\\]*)*"`)
const innerQuote = String.raw`\"`
/** Of a JSON text that stands in a string. */
const innerMember = namedValue(String.raw`\\"`, String.raw`\\"[^"\\]+\\"`)
const cardName = new RegExp(`^(?:${cardNames})$`, 'i')

const masked = '[masked]'

/**
 * A JSON text in which card numbers show their first six and last four digits, and security codes
 * and client secrets nothing. It works on the text, because it looks at every callback and finds
 * something in few. Numbers of cards are looked for in what `readFields` does not name: what the
 * gateway reads must not change, and an order's number may well look like a card's. Undefined: it is
 * not known what it reads, and they are looked for by the names of fields alone.
 */
export function maskCardData(text: string, readFields: readonly string[] | undefined): string {
  const maskBy = (quote: string) => (all: string, before: string, name: string) =>
    readFields?.includes(name) ? all : before + maskNamed(all.slice(before.length), name, quote)
  const own = text.replaceAll(ownMember, maskBy('"'))
  const named = own.includes(innerQuote) ? own.replaceAll(innerMember, maskBy(innerQuote)) : own
  return readFields === undefined || !hasCardNumber(named) ? named : maskNumbers(named, readFields)
}

function maskNamed(value: string, name: string, quote: string): string {
  if (!cardName.test(name)) return quote + masked + quote
  const digits = value.replaceAll(/[\s"\\-]/g, '')
  // Else a number that is masked already, or something else altogether.
  return /^\d{12,19}$/.test(digits) ? quote + maskNumber(digits) + quote : value
}

/** 14 to 19 digits by themselves that could be a card's: not in a word, a fraction or a phone number. */
const run = /(?<=^|[^\w.+]|\\[bfnrt])[2-6]\d{13,18}(?!\w|\.\d)/g
const longNumber = /[2-6]\d{13}/

function hasCardNumber(text: string): boolean {
  return longNumber.test(text) && Array.from(text.matchAll(run)).some(([digits]) => isLuhn(digits))
}

/** What a JSON text consists of; a string with the colon that makes it a name. */
const token = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|-?\d[\d.eE+-]*|[{}[\]]/g

function maskNumbers(text: string, readFields: readonly string[]): string {
  const read = new Set(readFields)
  const outer: string[] = []
  let name = ''
  return text.replaceAll(token, (piece: string, content?: string, colon?: string) => {
    if (colon !== undefined) {
      name = content ?? ''
      return piece
    }
    if (piece === '{' || piece === '[') outer.push(name)
    else if (piece === '}' || piece === ']') name = outer.pop() ?? ''
    else if (!read.has(name)) return maskIn(piece)
    return piece
  })
}

/** A text, or a number: what is shown of that is a text. */
function maskIn(piece: string): string {
  if (!piece.startsWith('"') && !/^\d+$/.test(piece)) return piece
  const shown = piece.replaceAll(run, (digits) => (isLuhn(digits) ? maskNumber(digits) : digits))
  return shown === piece || piece.startsWith('"') ? shown : `"${shown}"`
}

/** The check digit of card numbers (ISO/IEC 7812-1). */
function isLuhn(digits: string): boolean {
  let sum = 0
  for (let at = 0; at < digits.length; at += 1) {
    const digit = Number(digits[digits.length - 1 - at])
    const doubled = digit * 2
    sum += at % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** As much of it as may be shown (PCI DSS 3.4). */
function maskNumber(digits: string): string {
  return digits.slice(0, 6) + '*'.repeat(digits.length - 10) + digits.slice(-4)
}
