import { sql, type Kysely } from 'kysely'
import { named } from '../database/named-statements.ts'
import type { Tables } from '../database/tables.ts'
import { decide, type Decision } from '../payments/transition.ts'
import type { PaymentEntry } from './applied.ts'
import { bindsReferences } from './move-payments.ts'

/**
 * What an outcome does to its payment. `superseded`: nothing any more. It had moved the payment,
 * which has been paid since, and its event is claimed unless it has been already.
 */
export type Decided = Decision | { readonly kind: 'superseded'; readonly review?: boolean }

/** The state table, plus the two facts that only the database knows. */
export async function decideOutcomes(
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
