/** The provider has no order of this id. */
export const orderNotFound = '1018'

/** Signed with a key that the provider does not know: 1014, or the parameter `signature` (1007). */
export const keyRefusals: ReadonlySet<string> = new Set(['1014', '1007'])

/**
 * With these codes the provider refuses a request before it does anything. All others leave that
 * open: 1000 and 1002 are errors without a cause, 1013 means that the order exists already, and
 * others come from a bank. https://docs.fondy.eu/en/docs/page/21, "Response codes"
 */
const refusals: ReadonlySet<string> = new Set([
  '1006', // the merchant is not set up
  '1007', // a parameter is incorrect
  '1008', // a parameter is mandatory
  '1009', // a parameter is empty
  '1010', // the request is empty
  '1011', // a parameter is missing
  '1012', // the merchant does not take this currency
  '1014', // invalid signature
  '1016', // no such merchant
  '1017', // the merchant has none of these payment systems
  orderNotFound,
  '1021', // unsupported content type
  '1023', // invalid amount
  '1027', // no blocking of amounts
  '1034', // a parameter holds the separator
  '1035', // no such token
  '1046', // a text that is no UTF-8
  '1059', // the merchant may not charge tokens
  '1060', // nor make recurring payments
  '1069', // the merchant's turnover does not cover the refund
  '1082', // the token has expired
  '1084', // no refund in parts
  '1100', // the merchant may not do this
])

/** Whether a code means for certain that nothing was done. */
export function isRefusal(code: string): boolean {
  return refusals.has(code)
}
