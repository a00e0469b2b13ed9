import type { AccountStatement } from '../../payments/outcome.ts'

/** The merchant and the secret that WayForPay publishes for tests: with them anybody can sign. */
export const testMerchant = {
  account: 'test_merch_n1',
  secretKey: 'flk3409refn54t54t*FNJRET',
} as const

/** What a merchant account tells: only the published one is for tests. */
export function bindingOf(merchantAccount: string): Required<AccountStatement> {
  return { merchantAccount, live: merchantAccount !== testMerchant.account }
}
