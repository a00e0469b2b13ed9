import type { Kysely } from 'kysely'
import { findPaymentIds } from '../database/find-payment-ids.ts'
import { lockPayments } from '../database/payments.ts'
import { keepSubscription } from '../database/subscriptions.ts'
import type { Tables } from '../database/tables.ts'
import { isUuid } from '../kernel/ids.ts'
import type { Outcome, PaymentOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { Applying, Step } from './applied.ts'
import { makeRenewals, subscriptionsToKeep, type Renewals } from './make-renewals.ts'

/** The payments that steps are about. */
export interface FoundPayments {
  /** Locked, by id. */
  readonly payments: Map<string, Payment>
  readonly ids: ReadonlyMap<Step, string>
  readonly renewals: Renewals
}

/** Finds them, makes those of renewals, and locks them in the order of their ids. */
export async function findPayments(
  db: Kysely<Tables>,
  steps: readonly Step[],
  { newId, gateways }: Pick<Applying, 'newId' | 'gateways'>,
): Promise<FoundPayments> {
  const ids = new Map(await idsOf(db, steps))
  const renewing = steps.filter(isPaymentStep).filter(({ outcome }) => outcome.renews !== undefined)
  const known = new Set<Step>(renewing.filter((step) => ids.has(step)))
  const renewals = await makeRenewals(db, renewing, { newId, gateways, known })
  for (const [step, id] of renewals.ids) ids.set(step, id)
  const keeping = subscriptionsToKeep(renewals)
  const payments = await lockPayments(db, [...new Set([...ids.values(), ...keeping.keys()])])
  for (const [id, subscription] of keeping) await keepSubscription(db, id, subscription)
  return { payments, ids, renewals }
}

/** Ids of the payments that the outcomes name, as far as they name one that may be there. */
async function idsOf(
  db: Kysely<Tables>,
  steps: readonly Step[],
): Promise<readonly (readonly [Step, string])[]> {
  const naming = steps.flatMap((step) => {
    const reference = step.outcome.payment
    return reference === undefined ? [] : [{ step, reference }]
  })
  const found = await findPaymentIds(
    db,
    naming.map(({ step: { application, outcome }, reference }) => ({
      gateway: application.gateway,
      reference,
      claimed: claimOf(outcome),
      merchantAccount: outcome.type === 'ignored' ? undefined : outcome.merchantAccount,
    })),
  )
  return naming.flatMap(({ step }, index) => {
    const id = found[index]
    return isUuid(id) ? [[step, id] as const] : []
  })
}

/** What others can have written of the payment itself; a renewal's claim names the first one. */
export function claimOf(outcome: Outcome): string | undefined {
  if (outcome.type === 'ignored') return outcome.claimed?.id
  if (outcome.type !== 'payment' || outcome.renews !== undefined) return undefined
  return outcome.claimed?.id
}

export function isPaymentStep(step: Step): step is Step<PaymentOutcome> {
  return step.outcome.type === 'payment'
}
