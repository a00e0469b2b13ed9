import type { BillingOptions } from '../../src/billing/options.ts'

/** Settings with which documents are issued. */
export const seller = {
  name: 'Ларьок & Sons',
  address: ['12 Khreshchatyk St', 'Kyiv 01001'],
  taxId: '1234567890',
} as const

export const issuing: NonNullable<BillingOptions['invoices']> = { seller, dueDays: 14 }

/** The number of the nth document of this year. */
export function numbered(n: number, year = new Date().getUTCFullYear()): string {
  return `INV-${year}-${String(n).padStart(4, '0')}`
}
