import type { Kysely } from 'kysely'
import { findPayment, findPaymentIds, insertRenewal } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import { isUuid, type NewId } from '../kernel/ids.ts'
import type { PaymentOutcome, PaymentReference } from '../payments/outcome.ts'
import { accountMismatch } from '../payments/transition.ts'
import { ignoredResult, type Applied, type Step } from './applied.ts'
import { awaitingKey } from './awaiting.ts'

interface Renewals {
  readonly ids: ReadonlyMap<Step, string>
  /** Those that could not be made. */
  readonly applied: ReadonlyMap<Step, Applied>
  /** Those whose first payment has not been paid: after a trial, or of somebody's making. */
  readonly unpaid: ReadonlySet<Step>
}

/**
 * Makes the payments of further charges: providers renew subscriptions by themselves, so nobody has
 * created a payment for them. Each has the payable of the first payment and the provider's id of
 * this charge, under which every later report finds it.
 */
export async function makeRenewals(
  db: Kysely<Tables>,
  steps: readonly Step<PaymentOutcome>[],
  newId: NewId,
): Promise<Renewals> {
  const ids = new Map<Step, string>()
  const applied = new Map<Step, Applied>()
  const unpaid = new Set<Step>()
  for (const step of steps.filter(({ outcome }) => outcome.renews).toSorted(byReference)) {
    const made = await makeRenewal(db, step, newId)
    if ('kind' in made) {
      applied.set(step, made)
      continue
    }
    ids.set(step, made.id)
    if (!made.firstIsPaid) unpaid.add(step)
  }
  return { ids, applied, unpaid }
}

/** Always the same order, so that two transactions never wait for each other's new rows. */
function byReference(a: Step<PaymentOutcome>, b: Step<PaymentOutcome>): number {
  return JSON.stringify(a.outcome.payment) < JSON.stringify(b.outcome.payment) ? -1 : 1
}

async function makeRenewal(
  db: Kysely<Tables>,
  step: Step<PaymentOutcome>,
  newId: NewId,
): Promise<{ readonly id: string; readonly firstIsPaid: boolean } | Applied> {
  const { application, outcome } = step
  const { gateway } = application
  const { renews, amount, currency, payment: reference } = outcome
  const type = 'payment'
  if (renews === undefined || ('id' in renews && !isUuid(renews.id))) {
    return ignoredResult({ type, reason: 'invalid_reference' })
  }
  const first = await findNamed(db, step, renews)
  if (first === undefined) {
    return ignoredResult({
      type,
      reason: 'unknown_payment',
      awaiting: awaitingKey(gateway, renews),
    })
  }
  const review = outcome.status === 'paid'
  const reason = accountMismatch(first, gateway, outcome)
  if (reason !== undefined) return ignoredResult({ type, reason, review, payment: first })
  if (amount === undefined || currency === undefined || 'id' in reference) {
    return ignoredResult({ type, reason: 'amount_mismatch', review, payment: first })
  }
  await insertRenewal(db, first, { id: newId(), amount, currency, ...reference })
  // Another report of the same charge may have been first.
  const made = await findNamed(db, step, reference)
  if (made === undefined) throw new Error(`renewal of ${first.id} was not written`)
  return { id: made.id, firstIsPaid: first.status === 'paid' }
}

async function findNamed(
  db: Kysely<Tables>,
  { application: { gateway }, outcome }: Step<PaymentOutcome>,
  reference: PaymentReference,
) {
  const { merchantAccount } = outcome
  const [id] = await findPaymentIds(db, [{ gateway, reference, merchantAccount }])
  return isUuid(id) ? findPayment(db, id) : undefined
}
