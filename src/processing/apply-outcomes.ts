import type { Kysely } from 'kysely'
import { findPaymentIds, lockPayments } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import { paymentDedupKey, paymentEventType } from '../events/dedup-key.ts'
import type { EventType } from '../events/catalogue.ts'
import { isUuid, type NewId } from '../kernel/ids.ts'
import type { IgnoredReason, Outcome, OutcomeResult, PaymentOutcome } from '../payments/outcome.ts'
import type { Cause, Payment } from '../payments/payment.ts'
import { awaitingKey } from './awaiting.ts'
import { decideOutcomes } from './decide-outcomes.ts'
import { fillReferences, movePayments } from './move-payments.ts'

/** What one source says: a stored call, a poll reply. */
export interface Application {
  readonly gateway: string
  readonly outcomes: readonly Outcome[]
  readonly cause: Cause
  readonly callId: string | null
}

/** An event that waits for its claim. */
export interface Claim {
  /** Id of the event row, if the claim is won. */
  readonly eventId: string
  readonly dedupKey: string
  readonly type: EventType
  readonly payment: Payment
}

/** What an outcome came to: an event to claim, or a result at once. */
export type Applied =
  | { readonly kind: 'claim'; readonly claim: Claim; readonly type: string }
  | {
      readonly kind: 'ignored'
      readonly result: OutcomeResult & { readonly result: 'ignored' }
      readonly review: boolean
      readonly payment: Payment | undefined
      readonly awaiting: string | undefined
    }

interface Step<Stated extends Outcome = Outcome> {
  readonly application: Application
  readonly outcome: Stated
}

/** An outcome and the locked payment that it is about. */
export interface Target {
  readonly step: Step<PaymentOutcome>
  readonly payment: Payment
}

/**
 * Moves payments: locks their rows in the order of their ids, decides each outcome by the state
 * table and writes the changes and their history. The number of statements does not grow with that
 * of the payments; further outcomes about the same payment, and references that come late, cost
 * their own. Claims and listeners come after it, in the same transaction. Returns what each outcome
 * of each application came to.
 */
export async function applyOutcomes(
  db: Kysely<Tables>,
  applications: readonly Application[],
  newId: NewId,
): Promise<readonly (readonly Applied[])[]> {
  const steps = applications.map((application) =>
    application.outcomes.map((outcome) => ({ application, outcome })),
  )
  const naming = steps.flat().filter(namesPayment)
  const ids = await findTargets(db, naming)
  const payments = await lockPayments(db, [...new Set(ids.values())])
  const applied = new Map<Step, Applied>()
  for (const round of inRounds(naming, ids)) {
    const targets = round.flatMap((step) => {
      const payment = payments.get(ids.get(step) ?? '')
      return payment === undefined ? [] : [{ step, payment }]
    })
    for (const [{ step, payment }, result] of await applyRound(db, targets, newId)) {
      if (result.kind === 'claim') payments.set(payment.id, result.claim.payment)
      applied.set(step, result)
    }
  }
  return steps.map((ofOne) => ofOne.map((step) => applied.get(step) ?? withoutPayment(step)))
}

function namesPayment(step: Step): step is Step<PaymentOutcome> {
  return step.outcome.type === 'payment'
}

/** Ids of the payments that the outcomes name, as far as they name one. */
async function findTargets(
  db: Kysely<Tables>,
  steps: readonly Step<PaymentOutcome>[],
): Promise<ReadonlyMap<Step, string>> {
  const names = steps.map(({ application: { gateway }, outcome }) => {
    const { payment: reference, merchantAccount } = outcome
    return { gateway, reference, merchantAccount }
  })
  const found = await findPaymentIds(db, names)
  return new Map(
    steps.flatMap((step, index) => {
      const id = found[index]
      return isUuid(id) ? [[step, id]] : []
    }),
  )
}

/** Outcomes about the same payment follow each other; all others go together. */
function inRounds(
  steps: readonly Step<PaymentOutcome>[],
  ids: ReadonlyMap<Step, string>,
): readonly (readonly Step<PaymentOutcome>[])[] {
  const rounds: Step<PaymentOutcome>[][] = []
  const seen = new Map<string, number>()
  for (const step of steps) {
    const id = ids.get(step)
    if (id === undefined) continue
    const round = seen.get(id) ?? 0
    seen.set(id, round + 1)
    const together = (rounds[round] ??= [])
    together.push(step)
  }
  return rounds
}

async function applyRound(
  db: Kysely<Tables>,
  targets: readonly Target[],
  newId: NewId,
): Promise<ReadonlyMap<Target, Applied>> {
  const decisions = await decideOutcomes(db, targets)
  const moving = targets.filter((target) => decisions.get(target)?.kind === 'move')
  const moved = await movePayments(db, moving, newId)
  const applied = new Map<Target, Applied>()
  for (const [target, decision] of decisions) {
    const { payment, step } = target
    if (decision.kind === 'ignore') {
      const { review } = decision
      applied.set(target, { ...ignoredResult('payment', decision), review, payment })
      continue
    }
    const current = moved.get(payment.id) ?? (await fillReferences(db, target))
    applied.set(target, toClaim(step.outcome, current, newId))
  }
  return applied
}

function toClaim({ status }: PaymentOutcome, payment: Payment, newId: NewId): Applied {
  return {
    kind: 'claim',
    type: `payment:${status}`,
    claim: {
      eventId: newId(),
      dedupKey: paymentDedupKey(status, payment.id),
      type: paymentEventType(status),
      payment,
    },
  }
}

function withoutPayment({ application, outcome }: Step): Applied {
  if (outcome.type === 'ignored') return ignoredResult('callback', outcome)
  if ('id' in outcome.payment && !isUuid(outcome.payment.id)) {
    return ignoredResult('payment', { reason: 'invalid_reference' })
  }
  return {
    ...ignoredResult('payment', { reason: 'unknown_payment' }),
    awaiting: awaitingKey(application.gateway, outcome.payment),
  }
}

function ignoredResult(
  type: string,
  { reason, detail }: { readonly reason: IgnoredReason; readonly detail?: string | undefined },
): Applied & { kind: 'ignored' } {
  return {
    kind: 'ignored',
    result: { result: 'ignored', type, reason, ...(detail === undefined ? {} : { detail }) },
    review: false,
    payment: undefined,
    awaiting: undefined,
  }
}
