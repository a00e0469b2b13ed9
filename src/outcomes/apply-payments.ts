import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { paymentDedupKey, paymentEventType } from '../events/dedup-key.ts'
import { assertNever } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Payment } from '../payments/payment.ts'
import type { Decision } from '../payments/transition.ts'
import { ignoredResult, type Applied, type Step, type Target } from './applied.ts'
import { awaitingKey } from './awaiting.ts'
import { decideOutcomes, type Decided } from './decide-outcomes.ts'
import { learnReferences, movePayments } from './move-payments.ts'
import { released } from './released-money.ts'

/**
 * Moves payments. Further outcomes about the same payment, and references that come late, cost
 * statements of their own. `payments` (locked, by id) is kept up to date.
 */
export async function applyPayments(
  db: Kysely<Tables>,
  targets: readonly Target[],
  { payments, newId }: { readonly payments: Map<string, Payment>; readonly newId: NewId },
): Promise<ReadonlyMap<Step, Applied>> {
  const applied = new Map<Step, Applied>()
  for (const round of inRounds(targets)) {
    const current = round.map(({ step, payment }) => ({
      step,
      payment: payments.get(payment.id) ?? payment,
    }))
    for (const [{ step }, { result, payment }] of await applyRound(db, current, newId)) {
      payments.set(payment.id, payment)
      applied.set(step, result)
    }
  }
  return applied
}

/** Outcomes about the same payment follow each other; all others go together. */
function inRounds(targets: readonly Target[]): readonly (readonly Target[])[] {
  const rounds: Target[][] = []
  const seen = new Map<string, number>()
  for (const target of targets) {
    const round = seen.get(target.payment.id) ?? 0
    seen.set(target.payment.id, round + 1)
    const together = (rounds[round] ??= [])
    together.push(target)
  }
  return rounds
}

interface Moved {
  readonly result: Applied
  readonly payment: Payment
}

async function applyRound(
  db: Kysely<Tables>,
  targets: readonly Target[],
  newId: NewId,
): Promise<ReadonlyMap<Target, Moved>> {
  const decisions = await decideOutcomes(db, targets)
  const moving = targets.filter((target) => decisions.get(target)?.kind === 'move')
  const moved = await movePayments(db, moving, newId)
  const applied = new Map<Target, Moved>()
  for (const [target, decision] of decisions) {
    const holds = decision.kind === 'move' || decision.kind === 'confirm'
    const payment = holds ? await current(db, target, moved) : target.payment
    applied.set(target, { result: toApplied({ ...target, payment }, decision, newId), payment })
  }
  return applied
}

function toApplied(target: Target, decision: Decided, newId: NewId): Applied {
  switch (decision.kind) {
    case 'move':
    case 'confirm':
      return toClaim(target, newId, { detail: releaseOf(target) })
    case 'superseded':
      return toClaim(target, newId, { superseded: true, review: decision.review })
    case 'ignore':
      return ignore(target, decision)
    default:
      return assertNever(decision)
  }
}

/** What a report of blocked money that is let go is found by, should the payment be paid later. */
function releaseOf({ step }: Target): string | undefined {
  return step.outcome.ifPaid === undefined ? undefined : released
}

function ignore(
  target: Target,
  { reason, review }: Decision & { readonly kind: 'ignore' },
): Applied {
  const { step, payment } = target
  const { application, outcome } = step
  // The checkout may be on its way into the row: the callback is looked at again when it is there.
  const awaiting =
    reason === 'checkout_reference_unknown'
      ? [awaitingKey(application.gateway, outcome.payment)]
      : []
  const detail = reason === 'already_settled' ? releaseOf(target) : undefined
  return ignoredResult({ type: 'payment', reason, detail, review, payment, awaiting })
}

/** The payment as it stands now, with what this report knows of its ids. */
async function current(
  db: Kysely<Tables>,
  target: Target,
  moved: ReadonlyMap<string, Payment>,
): Promise<Payment> {
  return moved.get(target.payment.id) ?? (await learnReferences(db, target))
}

interface Marks {
  readonly superseded?: boolean
  readonly review?: boolean
  readonly detail?: string | undefined
}

function toClaim(
  { step, payment }: Target,
  newId: NewId,
  { superseded = false, review = false, detail }: Marks,
): Applied {
  const { status } = step.outcome
  return {
    kind: 'claim',
    type: `payment:${status}`,
    payment,
    review,
    ...(detail !== undefined && { detail }),
    claim: {
      eventId: newId(),
      dedupKey: paymentDedupKey(status, payment.id),
      type: paymentEventType(status),
      subject: { payment },
      superseded,
    },
  }
}
