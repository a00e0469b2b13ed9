import { InvalidArgumentError } from 'commander'

/**
 * Minor units, from an option. A decimal point is refused: whoever writes `19.99` must not find out
 * by a payment what it was taken for. What is printed afterwards is `19.99 UAH`.
 */
export function readAmount(text: string): number {
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new InvalidArgumentError('It must be a whole number of minor units: 1999 for 19.99.')
}
