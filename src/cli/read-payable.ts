import { InvalidArgumentError } from 'commander'
import type { Payable } from '../payments/payment.ts'

/** `order:42`. */
export function readPayable(text: string): Payable {
  const [, type, id] = /^([^:]+):(.+)$/.exec(text) ?? []
  if (type === undefined || id === undefined) {
    throw new InvalidArgumentError('It must be type:id, e.g. order:42.')
  }
  return { type, id }
}
