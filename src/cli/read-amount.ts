import { InvalidArgumentError } from 'commander'

/** Minor units, from an option. */
export function readAmount(text: string): number {
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new InvalidArgumentError('It must be a whole number of minor units.')
}
