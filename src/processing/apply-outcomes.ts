import type { Kysely } from 'kysely'
import { findPaymentIds } from '../database/find-payment-ids.ts'
import { lockPayments } from '../database/payments.ts'
import { keepSubscription } from '../database/subscriptions.ts'
import type { Tables } from '../database/tables.ts'
import { assertNever } from '../kernel/errors.ts'
import { isUuid } from '../kernel/ids.ts'
import {
  speaksOfMoney,
  type IgnoredOutcome,
  type Outcome,
  type PaymentOutcome,
  type PaymentReference,
} from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import {
  ignoredResult,
  type Application,
  type Applied,
  type Applying,
  type Step,
} from './applied.ts'
import { applyDispute } from './apply-dispute.ts'
import { applyPaymentMethod } from './apply-payment-method.ts'
import { applyPayments, type Target } from './apply-payments.ts'
import { applyRefund } from './apply-refund.ts'
import { awaitingKey } from './awaiting.ts'
import { requeueReleases, reviewLate } from './late-payments.ts'
import {
  makeRenewals,
  reviewRenewals,
  subscriptionsToKeep,
  type Renewals,
} from './make-renewals.ts'
import { refundByRelease } from './released-money.ts'

/**
 * Applies what callbacks say: locks the payments' rows in the order of their ids, decides each
 * outcome by the state table and writes the changes and their history. For payments the number of
 * statements does not grow with that of the outcomes; whatever else callbacks report is rarer and
 * goes one by one. Claims and listeners come after it, in the same transaction. Returns what each
 * outcome of each application came to.
 */
export async function applyOutcomes(
  db: Kysely<Tables>,
  applications: readonly Application[],
  applying: Applying,
): Promise<readonly (readonly Applied[])[]> {
  const steps = applications.map((application) =>
    application.outcomes.map((outcome) => ({ application, outcome })),
  )
  const { payments, ids, renewals } = await findPayments(db, steps.flat(), applying)
  const paymentOf = (step: Step) => payments.get(ids.get(step) ?? '')
  const targets = steps.flat().flatMap((step): readonly Target[] => {
    const payment = paymentOf(step)
    return isPaymentStep(step) && payment !== undefined ? [{ step, payment }] : []
  })
  const results = await applyPayments(db, targets, { payments, ...applying })
  await requeueReleases(db, targets, payments)
  const moved = await reviewLate(db, targets, results)
  const applied = await reviewRenewals(db, renewals, new Map([...renewals.applied, ...moved]))
  const several = new Map<Step, readonly Applied[]>()
  for (const { step, payment } of targets) {
    const charge = payments.get(payment.id) ?? payment
    const result = applied.get(step)
    const refund = refundByRelease(step, result, charge)
    if (refund === undefined) continue
    const refunds = await applyRefund(db, { step: refund, charge }, applying.newId)
    several.set(step, result?.kind === 'claim' ? [result, ...refunds] : refunds)
  }
  const others = steps.flat().filter((step) => !isPaymentStep(step))
  for (const step of others.toSorted(byReference)) {
    several.set(step, await applyOther(db, step, { payment: paymentOf(step), ...applying }))
  }
  return steps.map((ofOne) =>
    ofOne.flatMap((step) => {
      const results = several.get(step) ?? [applied.get(step) ?? unknownPayment(step)]
      return results.map((one) => withStatus(step, one))
    }),
  )
}

/** What is said of a payment that is not there: it tells whether a person must look for it. */
function withStatus({ outcome }: Step, applied: Applied): Applied {
  if (applied.kind !== 'ignored' || applied.result.reason !== 'unknown_payment') return applied
  const states =
    outcome.type === 'payment' || outcome.type === 'refund' || outcome.type === 'dispute'
  return states ? { ...applied, result: { detail: outcome.status, ...applied.result } } : applied
}

interface Found {
  /** Locked, by id. */
  readonly payments: Map<string, Payment>
  readonly ids: ReadonlyMap<Step, string>
  readonly renewals: Renewals
}

async function findPayments(
  db: Kysely<Tables>,
  steps: readonly Step[],
  { newId, gateways }: Applying,
): Promise<Found> {
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
    const reference = referenceOf(step.outcome)
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

function referenceOf(outcome: Outcome): PaymentReference | undefined {
  return outcome.payment
}

/** What others can have written of the payment itself; a renewal's claim names the first one. */
function claimOf(outcome: Outcome): string | undefined {
  if (outcome.type === 'ignored') return outcome.claimed?.id
  if (outcome.type !== 'payment' || outcome.renews !== undefined) return undefined
  return outcome.claimed?.id
}

function isPaymentStep(step: Step): step is Step<PaymentOutcome> {
  return step.outcome.type === 'payment'
}

/** Always the same order, so that two transactions never wait for each other's saved cards. */
function byReference(a: Step, b: Step): number {
  const [first, second] = [orderOf(a), orderOf(b)]
  // Equal ones stay in the order of their callback.
  return first === second ? 0 : first < second ? -1 : 1
}

function orderOf({ application: { gateway }, outcome }: Step): string {
  return outcome.type === 'payment_method' ? `${gateway}/${outcome.reference}` : ''
}

/** Under the lock of its charge, where it has one; a sum of refunds may come to several changes. */
async function applyOther(
  db: Kysely<Tables>,
  step: Step,
  applying: Applying & { readonly payment: Payment | undefined },
): Promise<readonly Applied[]> {
  const { application, outcome } = step
  const { payment, newId } = applying
  switch (outcome.type) {
    case 'payment_method':
      // Signed by the provider, but with a payment that may be anybody's: it waits for ours.
      if (outcome.payment !== undefined && payment === undefined) return [unknownPayment(step)]
      return [await applyPaymentMethod(db, { application, outcome }, applying)]
    case 'refund':
      if (payment === undefined) return [unknownPayment(step)]
      return applyRefund(db, { step: { application, outcome }, charge: payment }, newId)
    case 'dispute':
      if (payment === undefined) return [unknownPayment(step)]
      return [await applyDispute(db, { step: { application, outcome }, charge: payment }, newId)]
    case 'ignored':
      return [ignoredReport(outcome, payment)]
    case 'payment':
      return [unknownPayment(step)]
    default:
      return assertNever(outcome)
  }
}

function ignoredReport(outcome: IgnoredOutcome, payment: Payment | undefined): Applied {
  const { reason, detail } = outcome
  const isOurs = outcome.payment === undefined || payment !== undefined
  const review = isOurs && speaksOfMoney(outcome)
  return ignoredResult({ type: 'callback', reason, detail, review, payment })
}

function unknownPayment({ application: { gateway }, outcome }: Step): Applied {
  const reference = referenceOf(outcome)
  const { type } = outcome
  if (reference === undefined || ('id' in reference && !isUuid(reference.id))) {
    return ignoredResult({ type, reason: 'invalid_reference' })
  }
  const awaiting = [awaitingKey(gateway, reference)]
  const claimed = claimOf(outcome)
  if (claimed === undefined) return ignoredResult({ type, reason: 'unknown_payment', awaiting })
  if (!isUuid(claimed)) {
    return ignoredResult({ type, reason: 'invalid_reference', detail: claimed, awaiting })
  }
  awaiting.push(awaitingKey(gateway, { id: claimed }))
  return ignoredResult({ type, reason: 'unknown_payment', awaiting })
}
