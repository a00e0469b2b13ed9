import { sql, type Kysely } from 'kysely'
import { lockSubscriptionState } from '../database/lock-subscriptions.ts'
import { linkSubscription, requestSyncs } from '../database/managed-subscriptions.ts'
import { writeChange } from '../database/subscription-changes.ts'
import { findSubscriptionReference } from '../database/subscription-references.ts'
import { findPeriod } from '../database/subscription-periods.ts'
import { findSubscription } from '../database/subscriptions.ts'
import type { Tables } from '../database/tables.ts'
import type { PaymentOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import { payManaged } from '../subscriptions/pay-managed.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { paymentOf } from '../wire/payment.ts'
import { beginBy } from './apply-subscription.ts'
import type { Applied, ApplyContext, Entry } from './applied.ts'
import { isPaymentEntry } from './find-payments.ts'
import { writingOf } from './follow-periods.ts'
import type { Follower, Moved } from './follower.ts'
import type { Renewals } from './make-renewals.ts'
import { canBeAsked, managedNameOf } from './managed-rows.ts'

/** What the charges before the current one have changed. */
interface Changed {
  readonly payments: Map<string, Payment>
  readonly results: Map<Entry, readonly Applied[]>
}

/** A paid charge of a subscription that its provider manages, as it was applied. */
interface Charge {
  readonly entry: Entry<PaymentOutcome>
  readonly payment: Payment
  readonly reference: string
}

/**
 * What follows where a charge of a subscription is paid that its provider manages: it grants its
 * period, and the provider is asked how the subscription stands, for a callback may have been missed. By
 * state, not by transition: also a charge that was paid before its subscription was known.
 */
export const followManaged: Follower = async (db, moved, applying) => {
  const charges = chargesIn(moved, applying)
  if (charges.length === 0) return {}
  const { managed, renewals } = moved
  const changed = { payments: new Map(moved.payments), results: new Map(moved.results) }
  const wanted = new Set<string>()
  for (const { payment: before, ...said } of charges.toSorted(byReference)) {
    const charge = { ...said, payment: changed.payments.get(before.id) ?? before }
    const { entry } = charge
    const row = managed.rowOf(entry) ?? (await begin(db, { ...charge, renewals }, applying))
    if (row === undefined) {
      await markOther(db, charge, changed)
      continue
    }
    await link(db, { row, charge })
    const bound = await bind(db, { row, charge }, applying)
    if (bound !== undefined) keep(changed, bound)
    if (entry.report.answersFor !== row.id) wanted.add(row.id)
  }
  if (wanted.size > 0) {
    await requestSyncs(db, [...wanted].toSorted(), await applying.subscriptionTime(db))
  }
  return changed
}

/** Only what has paid: a charge that was ignored is none of ours. */
function chargesIn(
  { entries, results, ids, payments }: Moved,
  applying: ApplyContext,
): readonly Charge[] {
  return entries.filter(isPaymentEntry).flatMap((entry) => {
    const name = managedNameOf(entry, applying)
    const payment = payments.get(ids.get(entry) ?? '')
    if (name === undefined || payment === undefined) return []
    const isPaid = results.get(entry)?.some(isPayment) === true
    return isPaid ? [{ entry, payment, reference: name.reference }] : []
  })
}

function isPayment(applied: Applied): boolean {
  return applied.kind === 'claim' && applied.type === 'payment:paid'
}

/** Always in the same order, so that two transactions never wait for each other's new rows. */
function byReference(a: Charge, b: Charge): number {
  return `${a.reference} ${a.payment.id}` < `${b.reference} ${b.payment.id}` ? -1 : 1
}

/** No callback has named it: its callback is late, or lost. */
async function begin(
  db: Kysely<Tables>,
  { entry, payment, reference, renewals }: Charge & Pick<Moved, 'renewals'>,
  applying: ApplyContext,
): Promise<Subscription | undefined> {
  const { gateway } = entry.report
  if (!canBeAsked(gateway, applying)) return undefined
  const first = firstOf(entry, { payment, renewals })
  if (first === undefined) return undefined
  if ((await findSubscriptionReference(db, first.id)) !== reference) return undefined
  const id = await beginBy(db, { payment: first, outcome: { reference } }, applying)
  return id === undefined ? undefined : findSubscription(db, id)
}

/** It is paid, but another subscription has its name by now: a person has to look what it bought. */
async function markOther(
  db: Kysely<Tables>,
  { entry, payment, reference }: Charge,
  { results }: Pick<Changed, 'results'>,
): Promise<void> {
  if (entry.outcome.renews !== undefined) return
  const known = await findSubscriptionReference(db, payment.id)
  if (known === undefined || known === reference) return
  const marked = (results.get(entry) ?? []).map((one) =>
    one.kind === 'claim' && isPayment(one) ? ofAnother(one) : one,
  )
  results.set(entry, marked)
}

function ofAnother(applied: Applied & { readonly kind: 'claim' }): Applied {
  return { ...applied, review: true, detail: 'another_subscription' }
}

function firstOf(
  { outcome }: Entry<PaymentOutcome>,
  { payment, renewals }: { readonly payment: Payment; readonly renewals: Renewals },
): Payment | undefined {
  if (outcome.renews === undefined) return payment
  const found = [...renewals.firsts].find(([renewal]) => renewal.outcome === outcome)
  return found?.[1].first
}

interface OfRow {
  readonly row: Subscription
  readonly charge: Charge
}

/** One that was made here is its provider's from its first payment on. */
async function link(db: Kysely<Tables>, { row, charge }: OfRow): Promise<void> {
  const { entry, reference } = charge
  if (row.providerReference !== null || entry.outcome.renews !== undefined) return
  await linkSubscription(db, row.id, reference)
}

/** Grants what the charge pays for; the payment as it is then. Undefined: nothing that is known. */
async function bind(
  db: Kysely<Tables>,
  { row, charge: { entry, payment, reference } }: OfRow,
  applying: ApplyContext,
): Promise<Payment | undefined> {
  if (!isOf(row, payment)) return undefined
  const own = await untimed(db, { entry, payment })
  if (own === 'bound') return undefined
  const state = await lockSubscriptionState(db, row.id, applying.gateways)
  // Found by what began it, it may still be another one that names the same payment.
  const known = state?.subscription.providerReference ?? null
  if (known !== null && known !== reference) return undefined
  if (state === undefined || isEarly(entry, state.subscription)) return undefined
  const now = await applying.subscriptionTime(db)
  const moment = { now, policy: applying.subscriptionPolicy, held: false }
  const bought = payManaged(state, { ...chargeOf(entry, payment), period: own }, moment)
  if (bought === null) return undefined
  const { periodId } = bought
  await sql`update billing.payments set period_id = ${periodId}::uuid
    where id = ${payment.id}::uuid and period_id is null`.execute(db)
  await writeChange(db, bought.change, writingOf(entry.report, applying.newId))
  return paymentOf({ ...payment, periodId })
}

/**
 * A further charge has overtaken the first one. Its provider, which is asked at once, lists all of
 * them in their order: only then is it known which period is the first.
 */
function isEarly(
  { report, outcome }: Entry<PaymentOutcome>,
  { id, status }: Subscription,
): boolean {
  return outcome.renews !== undefined && status === 'incomplete' && report.answersFor !== id
}

/** Somebody else's money pays for nothing of it, whatever reference it names. */
function isOf({ payable }: Subscription, payment: Payment): boolean {
  return payable.type === payment.payable.type && payable.id === payment.payable.id
}

/**
 * The period that the first charge has paid, where it may still be said for which time that was; null:
 * no charge has a period yet; `bound`: nothing is left to say.
 */
async function untimed(
  db: Kysely<Tables>,
  { entry: { outcome }, payment: { id, periodId } }: Pick<Charge, 'entry' | 'payment'>,
): Promise<SubscriptionPeriod | null | 'bound'> {
  if (periodId === null) return null
  if (outcome.renews !== undefined || outcome.period === undefined) return 'bound'
  const own = await findPeriod(db, periodId)
  return own?.isTimeAssumed === true && own.paidPaymentId === id ? own : 'bound'
}

function chargeOf({ outcome, report }: Entry<PaymentOutcome>, payment: Payment) {
  const { id, amount, currency, createdAt } = payment
  const { period: stated = {}, renews, chargedAt = createdAt } = outcome
  const isFirst = renews === undefined
  const isStanding = report.isStanding === true
  return { id, amount, currency, chargedAt, isFirst, isStanding, stated }
}

/** The event of a payment carries the period that it has paid. */
function keep({ results, payments }: Changed, payment: Payment): void {
  payments.set(payment.id, payment)
  for (const [entry, applied] of results) {
    const bound = applied.map((one) => (one.payment?.id === payment.id ? about(one, payment) : one))
    results.set(entry, bound)
  }
}

function about(applied: Applied, payment: Payment): Applied {
  if (applied.kind !== 'claim' || !('payment' in applied.claim.subject)) {
    return { ...applied, payment }
  }
  const subject = { ...applied.claim.subject, payment }
  return { ...applied, payment, claim: { ...applied.claim, subject } }
}
