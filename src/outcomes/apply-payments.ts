import { sql, type Kysely } from 'kysely'
import { named } from '../database/named-statements.ts'
import type { Tables } from '../database/tables.ts'
import { dedupKey } from '../events/catalogue.ts'
import { paymentEventType } from '../events/dedup-key.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Payment } from '../payments/payment.ts'
import { decide, type Decision } from '../payments/transition.ts'
import { claimedBy, ignoredResult, type Applied, type Entry, type PaymentEntry } from './applied.ts'
import { learnReferences, movePayments, bindsReferences } from './move-payments.ts'
import { released } from './released-money.ts'
import { awaitingKey, requeued } from './waiting-calls.ts'

/** What reports of payments have done. */
interface AppliedPayments {
  readonly applied: ReadonlyMap<Entry, Applied>
  /** The payments as they are now, by id. */
  readonly payments: ReadonlyMap<string, Payment>
  /** The documents of those that are paid now, by payment. */
  readonly invoices: ReadonlyMap<string, string>
}

/**
 * Moves payments, whose rows are locked. Further outcomes of the same payment, and references that
 * come late, take statements of their own.
 */
export async function applyPayments(
  db: Kysely<Tables>,
  targets: readonly PaymentEntry[],
  newId: NewId,
): Promise<AppliedPayments> {
  const applied = new Map<Entry, Applied>()
  const payments = new Map(targets.map(({ payment }) => [payment.id, payment]))
  const invoices = new Map<string, string>()
  for (const turn of inTurns(targets)) {
    const current = turn.map(({ entry, payment }) => ({
      entry,
      payment: payments.get(payment.id) ?? payment,
    }))
    for (const [{ entry }, moved] of await applyTurn(db, current, newId)) {
      const { result, payment, invoiceId } = moved
      payments.set(payment.id, payment)
      applied.set(entry, result)
      if (invoiceId !== undefined) invoices.set(payment.id, invoiceId)
    }
  }
  return { applied, payments, invoices }
}

/** Outcomes of the same payment are applied one after the other; all others together. */
function inTurns(targets: readonly PaymentEntry[]): readonly (readonly PaymentEntry[])[] {
  const turns: PaymentEntry[][] = []
  const seen = new Map<string, number>()
  for (const target of targets) {
    const turn = seen.get(target.payment.id) ?? 0
    seen.set(target.payment.id, turn + 1)
    const together = (turns[turn] ??= [])
    together.push(target)
  }
  return turns
}

interface AppliedEntry {
  readonly result: Applied
  readonly payment: Payment
  /** Its document, if it is paid now. */
  readonly invoiceId: string | undefined
}

async function applyTurn(
  db: Kysely<Tables>,
  targets: readonly PaymentEntry[],
  newId: NewId,
): Promise<ReadonlyMap<PaymentEntry, AppliedEntry>> {
  const decisions = await decideOutcomes(db, targets)
  const moving = [...decisions].flatMap(([target, { kind }]) => (kind === 'move' ? [target] : []))
  const { payments: moved, invoices } = await movePayments(db, moving, newId)
  const applied = new Map<PaymentEntry, AppliedEntry>()
  for (const [target, decision] of decisions) {
    const holds = decision.kind === 'move' || decision.kind === 'confirm'
    const payment = holds ? await current(db, target, moved) : target.payment
    const result = toApplied({ ...target, payment }, decision, newId)
    applied.set(target, { result, payment, invoiceId: invoices.get(payment.id) })
  }
  return applied
}

function toApplied(target: PaymentEntry, decision: Decided, newId: NewId): Applied {
  if (decision.kind === 'ignore') return ignore(target, decision)
  return decision.kind === 'superseded'
    ? toClaim(target, newId, { superseded: true, review: decision.review })
    : toClaim(target, newId, { detail: releaseOf(target) })
}

/** How to find a report of released money, should the payment be paid later. */
function releaseOf({ entry }: PaymentEntry): string | undefined {
  return entry.outcome.ifPaid === undefined ? undefined : released
}

function ignore(
  target: PaymentEntry,
  { reason, review }: Decision & { readonly kind: 'ignore' },
): Applied {
  const { entry, payment } = target
  const { report, outcome } = entry
  // The checkout may be about to be written to the row; the callback is processed again then.
  const awaiting =
    reason === 'checkout_reference_unknown' ? [awaitingKey(report.gateway, outcome.payment)] : []
  const detail = reason === 'already_settled' ? releaseOf(target) : undefined
  return ignoredResult({ type: 'payment', reason, detail, review, payment, awaiting })
}

/** The payment as it is now, with the ids that this report names. */
async function current(
  db: Kysely<Tables>,
  target: PaymentEntry,
  moved: ReadonlyMap<string, Payment>,
): Promise<Payment> {
  return moved.get(target.payment.id) ?? (await learnReferences(db, target))
}

interface Marks {
  readonly superseded?: boolean
  readonly review?: boolean | undefined
  readonly detail?: string | undefined
}

function toClaim(
  { entry, payment }: PaymentEntry,
  newId: NewId,
  { superseded = false, review = false, detail }: Marks,
): Applied {
  const { status } = entry.outcome
  const type = paymentEventType(status)
  return {
    kind: 'claim',
    type: `payment:${status}`,
    payment,
    review,
    ...(detail !== undefined && { detail }),
    claim: {
      eventId: newId(),
      dedupKey: dedupKey(type, { payment: payment.id }),
      type,
      subject: { payment },
      superseded,
    },
  }
}

/**
 * What an outcome does to its payment. `superseded`: nothing any more. It had moved the payment,
 * which has been paid since, and its event is claimed unless it has been already.
 */
type Decided = Decision | { readonly kind: 'superseded'; readonly review?: boolean }

/** The state table, plus the two facts that only the database knows. */
async function decideOutcomes(
  db: Kysely<Tables>,
  targets: readonly PaymentEntry[],
): Promise<ReadonlyMap<PaymentEntry, Decided>> {
  const decisions = new Map<PaymentEntry, Decided>(
    targets.map((target) => [target, decideAlone(target)]),
  )
  const late = targets.filter(isLate)
  for (const target of await movedByTheirCalls(db, late)) {
    decisions.set(target, { ...decideAlone(target), kind: 'superseded' })
  }
  const paying = [...decisions].flatMap(([target, { kind }]) =>
    kind !== 'ignore' && bindsReferences(target) ? [target] : [],
  )
  for (const target of await withTakenReferences(db, paying)) {
    decisions.set(target, { kind: 'ignore', reason: 'provider_reference_taken', review: true })
  }
  return decisions
}

function decideAlone({ entry, payment }: PaymentEntry): Decision {
  return decide(payment, entry.report.gateway, entry.outcome)
}

/** Whatever the reason to ignore it now: a decline has other ids than the charge that paid. */
function isLate({ payment, entry }: PaymentEntry): boolean {
  return payment.status === 'paid' && entry.outcome.status !== 'paid'
}

/** Declines that their own call had applied: the event may not have been dispatched. */
async function movedByTheirCalls(
  db: Kysely<Tables>,
  targets: readonly PaymentEntry[],
): Promise<readonly PaymentEntry[]> {
  const calls = targets.flatMap(({ entry }) => entry.report.callId ?? [])
  if (calls.length === 0) return []
  const { rows } = await sql<{ move: string }>`
    select concat_ws(' ', payment_id, webhook_call_id, to_status) as move
    from billing.payment_transitions
    where payment_id = any(${targets.map(({ payment }) => payment.id)}::uuid[])
      and webhook_call_id = any(${calls}::uuid[])`.execute(db)
  const moves = new Set(rows.map(({ move }) => move))
  return targets.filter(({ payment, entry: { report, outcome } }) =>
    moves.has(`${payment.id} ${report.callId} ${outcome.status}`),
  )
}

/** One provider object pays for one of our payments. */
async function withTakenReferences(
  db: Kysely<Tables>,
  targets: readonly PaymentEntry[],
): Promise<readonly PaymentEntry[]> {
  if (targets.length === 0) return []
  const { rows } = await sql<{ id: string }>`${named('find-taken-references')}
    with wanted as (
      select * from unnest(
        ${targets.map(({ payment }) => payment.id)}::uuid[],
        ${targets.map(({ payment }) => payment.gateway)}::text[],
        ${targets.map(({ payment }) => payment.merchantAccount ?? '')}::text[],
        ${targets.map(({ entry }) => entry.outcome.checkoutReference ?? null)}::text[],
        ${targets.map(({ entry }) => entry.outcome.providerReference ?? null)}::text[]
      ) as wanted (id, gateway, account, checkout, provider)
    )
    select wanted.id from wanted join billing.payments as other
      on other.gateway = wanted.gateway and other.type = 'charge'
      and other.checkout_reference = wanted.checkout
    where other.id <> wanted.id and coalesce(other.merchant_account, '') = wanted.account
    union all
    select wanted.id from wanted join billing.payments as other
      on other.gateway = wanted.gateway and other.type = 'charge'
      and other.provider_reference = wanted.provider
    where other.id <> wanted.id
      and coalesce(other.merchant_account, '') = wanted.account`.execute(db)
  const taken = new Set(rows.map((row) => row.id))
  return targets.filter(({ payment }) => taken.has(payment.id))
}

/**
 * The results, marked for a person if a report that may be out of date has paid a canceled payment.
 * A call that is retried is marked again; copies of it are not.
 */
export async function reviewLate(
  db: Kysely<Tables>,
  targets: readonly PaymentEntry[],
  applied: ReadonlyMap<Entry, Applied>,
): Promise<ReadonlyMap<Entry, Applied>> {
  const canceling = new Set(targets.filter(cancels).map(({ payment }) => payment.id))
  const doubtful = targets.filter(
    ({ entry, payment }) =>
      entry.outcome.ifCanceled === 'review' &&
      (payment.status === 'canceled' || payment.status === 'paid' || canceling.has(payment.id)),
  )
  if (doubtful.length === 0) return applied
  const { rows } = await sql<{ id: string; call: string | null }>`
    select payment_id as id, webhook_call_id as call from billing.payment_transitions
    where payment_id = any(${doubtful.map(({ payment }) => payment.id)}::uuid[])
      and from_status = 'canceled' and to_status = 'paid'`.execute(db)
  const late = new Map(rows.map(({ id, call }) => [id, call]))
  const marked = new Map(applied)
  for (const { entry, payment } of doubtful) {
    const claimed = claimedBy(entry, applied)
    const isOwn = late.get(payment.id) === entry.report.callId
    if (claimed === undefined || !isOwn) continue
    marked.set(entry, { ...claimed, review: true, detail: 'paid_after_cancel' })
  }
  return marked
}

/**
 * If it was pending or declined when it was reported as paid, only the same batch can have canceled
 * it.
 */
function cancels({ entry }: PaymentEntry): boolean {
  return entry.outcome.status === 'canceled'
}

/**
 * Requeues the calls that released blocked money of payments that had ended unpaid and are paid by
 * now. The released money may have been charged, and each of these calls finds out what that means.
 * Runs in the transaction that pays, under the payments' locks.
 */
export async function requeueReleases(
  db: Kysely<Tables>,
  targets: readonly PaymentEntry[],
  payments: ReadonlyMap<string, Payment>,
): Promise<void> {
  const ended = new Set(targets.filter(hadEnded).map(({ payment }) => payment.id))
  const late = [...payments.values()].flatMap(({ id, status }) =>
    status === 'paid' && ended.has(id) ? [id] : [],
  )
  if (late.length === 0) return
  await sql`
    update billing.webhook_calls as call set ${requeued}
    where call.payment_id = any(${late}::uuid[]) and call.state in ('processed', 'ignored')
      and exists (select from json_array_elements(call.outcome) as one
        where one ->> 'detail' = ${released})`.execute(db)
}

function hadEnded({ payment: { status } }: PaymentEntry): boolean {
  return status === 'failed' || status === 'canceled'
}
