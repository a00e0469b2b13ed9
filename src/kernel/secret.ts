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

/** The password of a URL, whoever it is of. */
const urlPassword = /(?<=:\/\/[^\s:@/]{0,256}:)[^\s@/]{1,256}(?=@)/g

/**
 * Blanks out these secrets, in every spelling, and what looks like one, wherever a text repeats one of
 * them. A text has to be cut afterwards: half a secret is not found.
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
  return (text) => all.reduce<string>((scrubbed, one) => scrubbed.replaceAll(one, shown), text)
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
