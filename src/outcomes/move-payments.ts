import { sql, type Kysely, type Selectable } from 'kysely'
import { named } from '../database/named-statements.ts'
import { toPayment } from '../database/payments.ts'
import { keepSubscriptionReference } from '../database/subscription-references.ts'
import type { PaymentsTable, Tables } from '../database/tables.ts'
import type { NewId } from '../kernel/ids.ts'
import { declineCodeIn } from '../payments/decline.ts'
import { chargedAsIs, type PaymentOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import { paymentOf } from '../wire/payment.ts'
import type { PaymentEntry } from './applied.ts'

/**
 * Moves the payments and writes their history; returns them by id. The rules of the state table are
 * repeated in SQL: what they forbid changes no row, and is thrown, which takes back the history. Only the callback that pays binds the
 * provider's ids and the mode, because declined tries have ids of their own. Where a saved card was charged, a
 * decline is the end; the payer of a checkout may try again there. The caller lets their
 * periods take note of it in the same transaction (`grantPeriods`).
 */
export async function movePayments(
  db: Kysely<Tables>,
  targets: readonly PaymentEntry[],
  newId: NewId,
): Promise<MovedPayments> {
  if (targets.length === 0) return { payments: new Map(), invoices: new Map() }
  const { rows } = await sql<MovedRow>`${named('move-payments')}
    with moved as (
      update billing.payments as payment
      set status = stated.to_status, updated_at = statement_timestamp(),
        checkout_reference = coalesce(payment.checkout_reference, stated.checkout),
        provider_reference = coalesce(payment.provider_reference, stated.provider),
        subscription_reference = coalesce(payment.subscription_reference, stated.subscription),
        live = coalesce(payment.live, stated.live),
        decline_code = coalesce(stated.decline_code, payment.decline_code),
        checkout = case when payment.checkout in ('open', 'unknown')
          and (stated.to_status <> 'failed' or payment.payment_method_id is not null)
          then 'closed' else payment.checkout end
      from ${statedBy(targets)}
      where payment.id = stated.id and payment.type = 'charge'
        and payment.gateway = stated.gateway and payment.status = stated.from_status
        and case when stated.to_status = 'paid'
          then payment.status in ('pending', 'failed', 'canceled') and (stated.as_charged
            or (payment.amount = stated.amount and payment.currency = stated.currency))
          else payment.status = 'pending' end
      returning payment.id, payment.status, payment.updated_at, payment.checkout_reference,
        payment.provider_reference, payment.live, payment.checkout, payment.decline_code,
        payment.invoice_id
    ), history as (
      insert into billing.payment_transitions
        (id, payment_id, from_status, to_status, cause, webhook_call_id)
      ${historyOf(targets, newId)}
    )
    select id, status, updated_at, checkout_reference, provider_reference, live, checkout,
      decline_code, invoice_id
    from moved`.execute(db)
  const changes = new Map(rows.map((row) => [row.id, changeOf(row)]))
  const payments = new Map(
    targets.map(({ payment, entry }) => {
      const change = changes.get(payment.id)
      if (change !== undefined) return [payment.id, paymentOf({ ...payment, ...change })]
      throw new Error(`payment ${payment.id} refused to become ${entry.outcome.status}`)
    }),
  )
  return { payments, invoices: paidInvoicesIn(rows) }
}

export interface MovedPayments {
  /** By id. */
  readonly payments: ReadonlyMap<string, Payment>
  /** Of those that are paid now: by payment, the document that is to be marked. */
  readonly invoices: ReadonlyMap<string, string>
}

/** The payment's row says it: where nobody has issued a document, nobody looks for one. */
function paidInvoicesIn(rows: readonly MovedRow[]): ReadonlyMap<string, string> {
  return new Map(
    rows.flatMap(({ id, status, invoice_id: invoiceId }) =>
      status === 'paid' && invoiceId !== null ? [[id, invoiceId] as const] : [],
    ),
  )
}

/** What a move can change of a payment. */
type MovedRow = Pick<
  Selectable<PaymentsTable>,
  | 'id'
  | 'status'
  | 'updated_at'
  | 'checkout_reference'
  | 'provider_reference'
  | 'live'
  | 'checkout'
  | 'decline_code'
  | 'invoice_id'
>

function changeOf(row: MovedRow) {
  return {
    status: row.status,
    updatedAt: row.updated_at,
    checkoutReference: row.checkout_reference,
    providerReference: row.provider_reference,
    live: row.live,
    checkout: row.checkout,
    declineCode: row.decline_code,
  }
}

function statedBy(targets: readonly PaymentEntry[]) {
  const outcomes = targets.map(({ entry }) => entry.outcome)
  const paid = ({ status }: PaymentOutcome, reference: string | undefined) =>
    status === 'paid' ? (reference ?? null) : null
  return sql`unnest(
    ${targets.map(({ payment }) => payment.id)}::uuid[],
    ${targets.map(({ payment }) => payment.status)}::text[],
    ${targets.map(({ entry }) => entry.report.gateway)}::text[],
    ${outcomes.map((outcome) => outcome.status)}::text[],
    ${outcomes.map((outcome) => outcome.amount ?? null)}::bigint[],
    ${outcomes.map((outcome) => outcome.currency ?? null)}::text[],
    ${outcomes.map(chargedAsIs)}::boolean[],
    ${outcomes.map((outcome) => paid(outcome, outcome.checkoutReference))}::text[],
    ${outcomes.map((outcome) => paid(outcome, outcome.providerReference))}::text[],
    ${outcomes.map((outcome) => paid(outcome, begunBy(outcome)))}::text[],
    ${outcomes.map(({ status, live }) => (status === 'paid' ? (live ?? null) : null))}::boolean[],
    ${outcomes.map(declineCodeOf)}::text[]
  ) as stated (id, from_status, gateway, to_status, amount, currency, as_charged, checkout,
    provider, subscription, live, decline_code)`
}

/** A row for each: read from nothing else that the statement writes, so that one server runs it whole. */
function historyOf(targets: readonly PaymentEntry[], newId: NewId) {
  return sql`select * from unnest(
    ${targets.map(() => newId())}::uuid[],
    ${targets.map(({ payment }) => payment.id)}::uuid[],
    ${targets.map(({ payment }) => payment.status)}::text[],
    ${targets.map(({ entry }) => entry.outcome.status)}::text[],
    ${targets.map(({ entry }) => entry.report.cause)}::text[],
    ${targets.map(({ entry }) => entry.report.callId)}::uuid[])`
}

function declineCodeOf({ status, declineCode }: PaymentOutcome): string | null {
  return status === 'failed' ? (declineCodeIn(declineCode) ?? null) : null
}

/** The subscription that the payment began. */
function begunBy({ renews, subscriptionReference }: PaymentOutcome): string | undefined {
  return renews === undefined ? subscriptionReference : undefined
}

/** Whether a paid outcome has an id of the provider's that the payment does not have yet. */
export function bindsReferences({ payment, entry }: PaymentEntry): boolean {
  const { status, checkoutReference, providerReference } = entry.outcome
  if (status !== 'paid') return false
  return (
    (payment.checkoutReference === null && checkoutReference !== undefined) ||
    (payment.providerReference === null && providerReference !== undefined)
  )
}

/** A second report of the same thing may have an id, or a code, that the first did not. */
export async function learnReferences(db: Kysely<Tables>, target: PaymentEntry): Promise<Payment> {
  const { payment, entry } = target
  const subscription = begunBy(entry.outcome)
  if (entry.outcome.status === 'paid' && subscription !== undefined) {
    await keepSubscriptionReference(db, payment.id, subscription)
  }
  const declineCode = payment.declineCode === null ? declineCodeOf(entry.outcome) : null
  if (declineCode === null && !bindsReferences(target)) return payment
  return write(db, target, declineCode)
}

async function write(
  db: Kysely<Tables>,
  { payment, entry }: PaymentEntry,
  declineCode: string | null,
): Promise<Payment> {
  const { status, ...outcome } = entry.outcome
  const { checkoutReference = null, providerReference = null } = status === 'paid' ? outcome : {}
  const row = await db
    .updateTable('billing.payments')
    .set({
      checkout_reference: sql<string>`coalesce(checkout_reference, ${checkoutReference})`,
      provider_reference: sql<string>`coalesce(provider_reference, ${providerReference})`,
      decline_code: sql<string>`coalesce(decline_code, ${declineCode})`,
    })
    .where('id', '=', payment.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return toPayment(row)
}
