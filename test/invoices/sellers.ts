import { sql } from 'kysely'
import type { BillingOptions } from '../../src/billing/options.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import type { InvoiceFormat } from '../../src/invoices/invoice.ts'
import type { TestBilling } from '../support/billing.ts'

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

/** The number of the nth document of test money of this year. */
export function numberedTest(n: number): string {
  return `TEST-${numbered(n)}`
}

/** The numbers of the first documents of this year. */
export function upTo(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => numbered(at + 1))
}

/** Of all documents of our own. */
export async function numbersIn({ database }: TestBilling): Promise<readonly string[]> {
  const { rows } = await sql<{ number_text: string }>`
    select number_text from billing.invoices where issuer = 'us' order by number`.execute(
    database.db,
  )
  return rows.map(({ number_text: text }) => text)
}

/** All documents of this month, a line each. */
export async function exportedLines(
  core: BillingCore,
  format: InvoiceFormat,
  { test }: { readonly test?: boolean } = {},
): Promise<readonly string[]> {
  const month = new Date().toISOString().slice(0, 7)
  const lines: string[] = []
  for await (const line of core.invoices.export({ month, format, test })) lines.push(line)
  return lines
}
