import type { InvoiceStatus } from './invoice.ts'

/**
 * What a provider's document is, once another report of it has come. They come in any order: money
 * that was taken is said by `paid` alone and never taken back, and what is void is not owed again.
 */
export function followProvider(
  known: InvoiceStatus | undefined,
  stated: InvoiceStatus,
): InvoiceStatus {
  if (known === undefined) return stated
  return rank[stated] > rank[known] ? stated : known
}

const rank = { issued: 0, void: 1, paid: 2 } as const satisfies Record<InvoiceStatus, number>
