import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { dedupKey } from '../events/catalogue.ts'
import { paymentEventType } from '../events/dedup-key.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Payment } from '../payments/payment.ts'
import type { Decision } from '../payments/transition.ts'
import { ignoredResult, type Applied, type Entry, type PaymentEntry } from './applied.ts'
import { awaitingKey } from './awaiting.ts'
import { decideOutcomes, type Decided } from './decide-outcomes.ts'
import { learnReferences, movePayments } from './move-payments.ts'
import { released } from './released-money.ts'

/**
 * Moves payments. Further outcomes of the same payment, and references that come late, take
 * statements of their own. `payments` (locked, by id) is kept up to date; `invoices` gets the
 * documents of those that are paid now, by payment.
 */
export async function applyPayments(
  db: Kysely<Tables>,
  targets: readonly PaymentEntry[],
  { payments, invoices, newId }: ApplyTargets,
): Promise<ReadonlyMap<Entry, Applied>> {
  const applied = new Map<Entry, Applied>()
  for (const turn of inTurns(targets)) {
    const current = turn.map(({ entry, payment }) => ({
      entry,
      payment: payments.get(payment.id) ?? payment,
    }))
    for (const [{ entry }, moved] of await applyTurn(db, current, { invoices, newId })) {
      const { result, payment } = moved
      payments.set(payment.id, payment)
      applied.set(entry, result)
    }
  }
  return applied
}

interface ApplyTargets {
  readonly payments: Map<string, Payment>
  readonly invoices: Map<string, string>
  readonly newId: NewId
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

interface Moved {
  readonly result: Applied
  readonly payment: Payment
}

async function applyTurn(
  db: Kysely<Tables>,
  targets: readonly PaymentEntry[],
  { invoices, newId }: Pick<ApplyTargets, 'invoices' | 'newId'>,
): Promise<ReadonlyMap<PaymentEntry, Moved>> {
  const decisions = await decideOutcomes(db, targets)
  const moving = [...decisions].flatMap(([target, { kind }]) => (kind === 'move' ? [target] : []))
  const { payments: moved, invoices: paid } = await movePayments(db, moving, newId)
  for (const [paymentId, invoiceId] of paid) invoices.set(paymentId, invoiceId)
  const applied = new Map<PaymentEntry, Moved>()
  for (const [target, decision] of decisions) {
    const holds = decision.kind === 'move' || decision.kind === 'confirm'
    const payment = holds ? await current(db, target, moved) : target.payment
    applied.set(target, { result: toApplied({ ...target, payment }, decision, newId), payment })
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
