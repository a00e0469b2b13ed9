import { sql, type Kysely } from 'kysely'
import { findPaymentId, toPayment } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import { paymentDedupKey, paymentEventType } from '../events/dedup-key.ts'
import type { EventType } from '../events/catalogue.ts'
import { isUuid, type NewId } from '../kernel/ids.ts'
import {
  chargedAsIs,
  type IgnoredReason,
  type Outcome,
  type OutcomeResult,
  type PaymentOutcome,
} from '../payments/outcome.ts'
import type { Cause, Payment, PaymentStatus } from '../payments/payment.ts'
import { decide, type Decision } from '../payments/transition.ts'
import { awaitingKey } from './awaiting.ts'

export interface Application {
  readonly gateway: string
  readonly outcomes: readonly Outcome[]
  readonly cause: Cause
  readonly callId: string | null
  readonly newId: NewId
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

/**
 * Moves the payments: locks their rows in the order of their ids, decides each outcome by the state
 * table and writes the change and its history. Claims and listeners come after it, in the same
 * transaction.
 */
export async function applyOutcomes(
  db: Kysely<Tables>,
  application: Application,
): Promise<readonly Applied[]> {
  const targets = await findTargets(db, application)
  const payments = await lockPayments(db, [...targets.values()])
  const applied: Applied[] = []
  for (const outcome of application.outcomes) {
    if (outcome.type === 'ignored') {
      applied.push(ignoredResult('callback', outcome))
      continue
    }
    const payment = payments.get(targets.get(outcome) ?? '')
    if (payment === undefined) {
      applied.push(unknownPayment(application.gateway, outcome))
      continue
    }
    const one = await applyToPayment(db, { application, outcome, payment })
    if (one.kind === 'claim') payments.set(payment.id, one.claim.payment)
    applied.push(one)
  }
  return applied
}

async function findTargets(
  db: Kysely<Tables>,
  application: Application,
): Promise<ReadonlyMap<Outcome, string>> {
  const targets = new Map<Outcome, string>()
  for (const outcome of application.outcomes) {
    if (outcome.type !== 'payment') continue
    const reference = outcome.payment
    const id =
      'id' in reference ? reference.id : await findPaymentId(db, application.gateway, reference)
    if (isUuid(id)) targets.set(outcome, id)
  }
  return targets
}

async function lockPayments(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<Map<string, Payment>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('billing.payments')
    .selectAll()
    .where('id', '=', sql<string>`any(${[...ids]}::uuid[])`)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  return new Map(rows.map((row) => [row.id, toPayment(row)]))
}

interface Target {
  readonly application: Application
  readonly outcome: PaymentOutcome
  readonly payment: Payment
}

async function applyToPayment(db: Kysely<Tables>, target: Target): Promise<Applied> {
  const { outcome, payment } = target
  const decision = await decideWithHistory(db, target)
  if (decision.kind === 'ignore') {
    return { ...ignoredResult('payment', decision), review: decision.review, payment }
  }
  const current =
    decision.kind === 'move' ? await move(db, target) : await fillReferences(db, target)
  const { status } = outcome
  return {
    kind: 'claim',
    type: `payment:${status}`,
    claim: {
      eventId: target.application.newId(),
      dedupKey: paymentDedupKey(status, payment.id),
      type: paymentEventType(status),
      payment: current,
    },
  }
}

/** The state table, and the two facts that only the database knows. */
async function decideWithHistory(db: Kysely<Tables>, target: Target): Promise<Decision> {
  const { application, outcome, payment } = target
  const decision = decide(payment, application.gateway, outcome)
  if (decision.kind === 'ignore') {
    const overtaken =
      decision.reason === 'already_paid' && (await movedByCall(db, payment.id, application.callId))
    return overtaken ? { ...decision, reason: 'superseded' } : decision
  }
  if (outcome.status === 'paid' && (await referenceTaken(db, payment, outcome))) {
    return { kind: 'ignore', reason: 'provider_reference_taken', review: true }
  }
  return decision
}

/** A decline that was applied, and then overtaken by a payment before its event was dispatched. */
async function movedByCall(
  db: Kysely<Tables>,
  paymentId: string,
  callId: string | null,
): Promise<boolean> {
  if (callId === null) return false
  const row = await db
    .selectFrom('billing.payment_transitions')
    .select('id')
    .where('payment_id', '=', paymentId)
    .where('webhook_call_id', '=', callId)
    .executeTakeFirst()
  return row !== undefined
}

/** One provider object pays for one payment of ours. */
async function referenceTaken(
  db: Kysely<Tables>,
  payment: Payment,
  outcome: PaymentOutcome,
): Promise<boolean> {
  const { checkoutReference, providerReference } = outcome
  const news =
    (payment.checkoutReference === null && checkoutReference !== undefined) ||
    (payment.providerReference === null && providerReference !== undefined)
  if (!news) return false
  const { rows } = await sql`
    select 1 from billing.payments
    where gateway = ${payment.gateway} and type = ${payment.type} and id <> ${payment.id}::uuid
      and coalesce(merchant_account, '') = ${payment.merchantAccount ?? ''}
      and (checkout_reference = ${checkoutReference ?? null}
        or provider_reference = ${providerReference ?? null})
    limit 1`.execute(db)
  return rows.length > 0
}

/**
 * Moves the payment and writes its history. The same rules as the state table once more, in SQL:
 * what they forbid changes no row.
 */
async function move(db: Kysely<Tables>, target: Target): Promise<Payment> {
  const { application, outcome, payment } = target
  const paid = outcome.status === 'paid'
  const row = await db
    .with('moved', (query) => {
      const update = query
        .updateTable('billing.payments')
        .set({ status: outcome.status, updated_at: sql<Date>`clock_timestamp()` })
        .where('id', '=', payment.id)
        .where('type', '=', 'charge')
        .where('gateway', '=', application.gateway)
        .where('status', '=', payment.status)
        .where('status', 'in', paid ? ['pending', 'failed', 'canceled'] : ['pending'])
        .$if(paid, (update) => update.set(references(outcome)))
        .$if(paid && !chargedAsIs(outcome), (update) =>
          update
            .where('amount', '=', outcome.amount ?? null)
            .where('currency', '=', outcome.currency ?? null),
        )
      return update.returningAll()
    })
    .with('history', (query) =>
      query
        .insertInto('billing.payment_transitions')
        .columns(['id', 'payment_id', 'from_status', 'to_status', 'cause', 'webhook_call_id'])
        .expression((from) =>
          from
            .selectFrom('moved')
            .select([
              sql<string>`${application.newId()}::uuid`.as('id'),
              'moved.id as payment_id',
              sql<PaymentStatus>`${payment.status}::text`.as('from_status'),
              'moved.status as to_status',
              sql<Cause>`${application.cause}::text`.as('cause'),
              sql<string | null>`${application.callId}::uuid`.as('webhook_call_id'),
            ]),
        ),
    )
    .selectFrom('moved')
    .selectAll()
    .executeTakeFirst()
  if (row !== undefined) return toPayment(row)
  throw new Error(`payment ${payment.id} refused to become ${outcome.status}`)
}

/** A second callback about the same charge may know an id that the first did not. */
async function fillReferences(db: Kysely<Tables>, target: Target): Promise<Payment> {
  const { outcome, payment } = target
  const missing =
    (payment.checkoutReference === null && outcome.checkoutReference !== undefined) ||
    (payment.providerReference === null && outcome.providerReference !== undefined)
  if (outcome.status !== 'paid' || !missing) return payment
  const row = await db
    .updateTable('billing.payments')
    .set(references(outcome))
    .where('id', '=', payment.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return toPayment(row)
}

/** Only the callback that pays may bind the provider's ids: declined tries have ids of their own. */
function references(outcome: PaymentOutcome) {
  return {
    checkout_reference: sql<string>`coalesce(checkout_reference, ${outcome.checkoutReference ?? null})`,
    provider_reference: sql<string>`coalesce(provider_reference, ${outcome.providerReference ?? null})`,
  }
}

function unknownPayment(gateway: string, outcome: PaymentOutcome): Applied {
  if ('id' in outcome.payment && !isUuid(outcome.payment.id)) {
    return ignoredResult('payment', { reason: 'invalid_reference' })
  }
  return {
    ...ignoredResult('payment', { reason: 'unknown_payment' }),
    awaiting: awaitingKey(gateway, outcome.payment),
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
