import type { Payment } from '../payments/payment.ts'
import type { PaymentStanding } from '../payments/standing.ts'
import type { BillingCore } from './types.ts'

type Known = Pick<Payment, 'id' | 'status'>

/** The same payments, each with how it stands. */
export async function withStandings<P extends Known>(
  core: BillingCore,
  payments: readonly P[],
): Promise<readonly (P & { readonly standing: PaymentStanding })[]> {
  const standingOf = await standingsOf(core, payments)
  return payments.map((payment) => ({ ...payment, standing: standingOf(payment) }))
}

/** How each of these stands, for people. Only of what is paid something can have gone back. */
export async function standingsOf(
  { payments }: BillingCore,
  known: readonly Known[],
): Promise<(payment: Known) => PaymentStanding> {
  const paid = known.filter(({ status }) => status === 'paid').map(({ id }) => id)
  const found = paid.length === 0 ? undefined : await payments.standings(paid)
  return ({ id, status }) => found?.get(id) ?? { state: status, refunded: 0n }
}
