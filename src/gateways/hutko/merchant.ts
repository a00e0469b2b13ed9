/** Merchants that the provider publishes for tests (Fondy, Flitt, hutko), and their keys. */
export const testMerchants: readonly string[] = ['1396424', '1549901', '1700002']
export const testKeys: readonly string[] = ['test', 'testcredit']

const merchantGrammar = /^[1-9]\d{0,17}$/

export function isMerchantId(text: string): boolean {
  return merchantGrammar.test(text)
}

/** Seven digits that are derived from the text and belong to no test merchant. */
export function sampleMerchantId(owner: string): string {
  const number = Buffer.from(owner).reduce((sum, byte) => (sum * 31 + byte) % 7_000_000, 0)
  return String(2_000_000 + number)
}

/** A test merchant has no live mode; for others only a callback may say. */
export function isLive(merchantId: string, test?: boolean): boolean | undefined {
  if (testMerchants.includes(merchantId)) return false
  return test === undefined ? undefined : !test
}
