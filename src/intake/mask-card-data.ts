import { replaceScalars } from './replace-scalars.ts'

/**
 * Values that must not be kept, or that are as good as a key: masked whole, or only a card's
 * middle.
 */
const secretNames =
  'client_?secret|(?:card_?)?(?:cv[vc]2?|cvn|csc|security_?code|verification_?(?:code|value))'
const cardNames = 'card_?(?:number|num|no)|pan|primary_?account_?number'

/**
 * A member with one of these names and a text or a number: what precedes the value, and the name.
 * `quote` is how quotes are spelt there.
 */
const namedValue = (quote: string, text: string) =>
  new RegExp(
    String.raw`(${quote}(${secretNames}|${cardNames})${quote}\s*:\s*)(?:${text}|\d[\d.eE+-]*)`,
    'gi',
  )
// Each run is one step: one character at a time, megabytes of them would exhaust the stack.
const ownMember = namedValue('"', String.raw`"(?!")[^"\\]*(?:\\.[^"\\]*)*"`)
const innerQuote = String.raw`\"`
/** In a JSON text inside a string. */
const innerMember = namedValue(String.raw`\\"`, String.raw`\\"[^"\\]+\\"`)
const cardName = new RegExp(`^(?:${cardNames})$`, 'i')

const masked = '[masked]'

/**
 * Masks a JSON text: card numbers keep their first six and last four digits, security codes and
 * client secrets nothing. It works on the text, because it checks every callback and finds
 * something in few. Card numbers are searched for outside the fields that `readFields` names: what
 * the gateway reads must not change, and an order's number may well look like a card's. If
 * `readFields` is undefined, it is unknown what the gateway reads, and they are found by the names
 * of fields alone.
 */
export function maskCardData(text: string, readFields: readonly string[] | undefined): string {
  const maskBy = (quote: string) => (all: string, before: string, name: string) =>
    readFields?.includes(name) ? all : before + maskNamed(all.slice(before.length), name, quote)
  const own = text.replaceAll(ownMember, maskBy('"'))
  const named = own.includes(innerQuote) ? own.replaceAll(innerMember, maskBy(innerQuote)) : own
  if (readFields === undefined || !hasCardNumber(named)) return named
  const read = new Set(readFields)
  return replaceScalars(named, (piece, name) => (read.has(name) ? piece : maskIn(piece)))
}

function maskNamed(value: string, name: string, quote: string): string {
  if (!cardName.test(name)) return quote + masked + quote
  const digits = value.replaceAll(/[\s"\\-]/g, '')
  // Otherwise it is a number that is masked already, or something else.
  return /^\d{12,19}$/.test(digits) ? quote + maskNumber(digits) + quote : value
}

/**
 * Not within a word, a fraction or a phone number; an escape of JSON or of a URL in front does not
 * matter.
 */
const alone = String.raw`(?<=^|[^\w.+%]|\\(?:[bfnrt]|u[\da-f]{4})|%[\da-f]{2})`
/** 14 to 19 digits that could be a card's, also in the groups printed on one. */
const digits = String.raw`[2-6]\d{13,18}|[2-6]\d{3}([ -])\d{4}\1\d{4}\1\d{4}|3\d{3}([ -])\d{6}\2\d{5}`
const run = new RegExp(String.raw`${alone}(?:${digits})(?!\w|\.\d)`, 'gi')
const longNumber = /[2-6]\d{3}(?:\d{10}|[ -]\d{4})/

function hasCardNumber(text: string): boolean {
  return longNumber.test(text) && maskCardNumbers(text) !== text
}

/** A text, or a number, which is shown as a text. */
function maskIn(piece: string): string {
  if (piece.startsWith('"')) return maskCardNumbers(piece)
  const shown = /^\d+$/.test(piece) ? maskCardNumbers(piece) : piece
  return shown === piece ? piece : `"${shown}"`
}

/** Card numbers in a text of any form. */
export function maskCardNumbers(text: string): string {
  return text.replaceAll(run, (number) => {
    const plain = number.replaceAll(/[ -]/g, '')
    return isLuhn(plain) ? maskNumber(plain) : number
  })
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

/** As much of the number as may be shown (PCI DSS 3.4). */
function maskNumber(digits: string): string {
  return digits.slice(0, 6) + '*'.repeat(digits.length - 10) + digits.slice(-4)
}
