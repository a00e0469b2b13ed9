import type { DeclineKind } from '../../payments/decline.ts'

/**
 * Codes of `response_code`, by which an order was declined, and of errors instead of an order:
 * https://docs.fondy.eu/en/docs/page/21. What they mean for a saved card is reasoned from that.
 * 1004, which says that the bank does not want it, may pass.
 */
export const declines: ReadonlyMap<string, DeclineKind> = new Map<string, DeclineKind>([
  ['1015', 'hard'], // invalid card number
  ['1035', 'hard'], // no such token
  ['1082', 'hard'], // the token has expired
])
