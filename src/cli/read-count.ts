import { InvalidArgumentError } from 'commander'

/** A number of things, from an option: `Number` would take an empty text for none. */
export function readCount(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}
