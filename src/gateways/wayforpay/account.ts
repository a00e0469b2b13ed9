import type { AccountStatement } from '../../payments/outcome.ts'

/** The merchant and the secret that WayForPay publishes for tests: anyone can sign with them. */
export const testMerchant = {
  account: 'test_merch_n1',
  secretKey: 'flk3409refn54t54t*FNJRET',
} as const

/** What a merchant account shows: only the published one is for tests. */
export function bindingOf(merchantAccount: string): Required<AccountStatement> {
  return { merchantAccount, live: merchantAccount !== testMerchant.account }
}
