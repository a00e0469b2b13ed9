import { inspect } from 'node:util'

/** A text that shows itself only to `reveal()`: logs, JSON and errors get `[secret]`. */
export interface Secret {
  reveal(): string
}

const shown = '[secret]'

/** Wraps a text so that it is never shown by accident. */
export function secret(text: string): Secret {
  return Object.freeze({
    reveal: () => text,
    toString: () => shown,
    toJSON: () => shown,
    [inspect.custom]: () => shown,
  })
}

/**
 * Reads a setting that may hold several secrets, separated by commas (rotation). Blank ones, and
 * the texts `undefined` and `null` that broken deployments leave behind, count as absent.
 */
export function parseSecrets(text: string | undefined): readonly Secret[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && part !== 'undefined' && part !== 'null')
    .map((part) => secret(part))
}

/** Where a billing keeps how it blanks its secrets out, for the pages of an app that stand beside it. */
export const scrubbing: unique symbol = Symbol.for('quittance.scrub')

/** The password of a URL, whoever it is of. */
const urlPassword = /(?<=:\/\/[^\s:@/]{0,256}:)[^\s@/]{1,256}(?=@)/g

/** Stands where a text was cut. */
export const cutMark = '…'
const upToCut = new RegExp(`[^${cutMark}]+(?=${cutMark}|$)`, 'g')
/** So many first characters tell a secret apart. */
const knownByFirst = 8

/**
 * Blanks out these secrets, in every spelling, and what looks like one, wherever a text repeats one of
 * them. A secret that was cut is found before `cutMark` and at the end of the text.
 */
export function scrubber(
  secrets: readonly Secret[],
  looks: readonly RegExp[] = [],
): (text: string) => string {
  // Very short texts would blank out half of any sentence, and protect nothing.
  const values = [...new Set(secrets.flatMap((one) => spellingsOf(one.reveal())))]
    .filter((value) => value.length >= 4)
    // One may be the beginning of another.
    .toSorted((one, other) => other.length - one.length)
  const all = [...values, ...looks, urlPassword]
  return (text) => {
    const scrubbed = all.reduce<string>((rest, one) => rest.replaceAll(one, shown), text)
    return scrubbed.replaceAll(upToCut, (piece) => values.reduce(withoutEnd, piece))
  }
}

/** Without the beginning of a secret at its end. */
function withoutEnd(piece: string, value: string): string {
  if (value.length < knownByFirst) return piece
  const first = value.slice(0, knownByFirst)
  let at = piece.indexOf(first, piece.length - value.length)
  // One that repeats itself begins more than once there: it is cut at the first.
  while (at !== -1 && !value.startsWith(piece.slice(at))) at = piece.indexOf(first, at + 1)
  return at === -1 ? piece : piece.slice(0, at) + shown
}

/** As it is; without the mark of what it signs; in a URL, and in JSON. */
function spellingsOf(text: string): readonly string[] {
  const plain = [text, text.replace(/^whsec_/, '')]
  return plain.flatMap((one) => [
    one,
    encodeURIComponent(one.toWellFormed()),
    JSON.stringify(one).slice(1, -1),
  ])
}
