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

/** Blanks out these secrets wherever a text repeats one of them. */
export function scrubber(secrets: readonly Secret[]): (text: string) => string {
  // Very short texts would blank out half of any sentence, and protect nothing.
  const values = secrets.map((one) => one.reveal()).filter((value) => value.length >= 4)
  return (text) => values.reduce((scrubbed, value) => scrubbed.replaceAll(value, shown), text)
}
