import { sql, type Kysely, type Selectable } from 'kysely'
import type { Payment, PaymentStatus } from '../payments/payment.ts'
import type { PaymentReference } from '../payments/outcome.ts'
import { pageLimit, readCursor, toPage, type Page, type PageQuery } from './page.ts'
import type { PaymentsTable, PaymentTransitionsTable, Tables } from './tables.ts'

export interface PaymentsQuery extends PageQuery {
  readonly gateway?: string
  readonly status?: PaymentStatus
}

export interface PaymentTransition {
  readonly from: PaymentStatus
  readonly to: PaymentStatus
  readonly cause: PaymentTransitionsTable['cause']
  readonly webhookCallId: string | null
  readonly at: Date
}

export async function findPayment(db: Kysely<Tables>, id: string): Promise<Payment | undefined> {
  const row = await db
    .selectFrom('billing.payments')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row && toPayment(row)
}

export async function listPayments(
  db: Kysely<Tables>,
  query: PaymentsQuery,
): Promise<Page<Payment>> {
  const limit = pageLimit(query)
  const after = readCursor(query.cursor)
  let select = db
    .selectFrom('billing.payments')
    .selectAll()
    .where('type', '=', 'charge')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (query.gateway !== undefined) select = select.where('gateway', '=', query.gateway)
  if (query.status !== undefined) select = select.where('status', '=', query.status)
  if (after !== undefined) {
    select = select.where(sql<boolean>`(created_at, id) < (${after.at}, ${after.id}::uuid)`)
  }
  const rows = await select.execute()
  return toPage(rows.map(toPayment), limit, (payment) => ({
    at: payment.createdAt,
    id: payment.id,
  }))
}

export async function listRefunds(
  db: Kysely<Tables>,
  paymentId: string,
): Promise<readonly Payment[]> {
  const rows = await db
    .selectFrom('billing.payments')
    .selectAll()
    .where('parent_id', '=', paymentId)
    .orderBy('created_at')
    .execute()
  return rows.map(toPayment)
}

export async function listTransitions(
  db: Kysely<Tables>,
  paymentId: string,
): Promise<readonly PaymentTransition[]> {
  const rows = await db
    .selectFrom('billing.payment_transitions')
    .selectAll()
    .where('payment_id', '=', paymentId)
    .orderBy('at')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    from: row.from_status,
    to: row.to_status,
    cause: row.cause,
    webhookCallId: row.webhook_call_id,
    at: row.at,
  }))
}

/** The id of the charge that a callback names, within its gateway where the name is the provider's. */
export async function findPaymentId(
  db: Kysely<Tables>,
  gateway: string,
  reference: PaymentReference,
): Promise<string | undefined> {
  const select = db.selectFrom('billing.payments').select('id')
  if ('id' in reference) {
    return (await select.where('id', '=', reference.id).executeTakeFirst())?.id
  }
  const [column, value] =
    'checkoutReference' in reference
      ? (['checkout_reference', reference.checkoutReference] as const)
      : (['provider_reference', reference.providerReference] as const)
  const row = await select
    .where('gateway', '=', gateway)
    .where('type', '=', 'charge')
    .where(column, '=', value)
    .executeTakeFirst()
  return row?.id
}

export async function insertPayment(
  db: Kysely<Tables>,
  payment: Omit<Payment, 'createdAt' | 'updatedAt'>,
): Promise<Payment | undefined> {
  const row = await db
    .insertInto('billing.payments')
    .values({
      id: payment.id,
      type: payment.type,
      parent_id: payment.parentId,
      gateway: payment.gateway,
      merchant_account: payment.merchantAccount,
      live: payment.live,
      status: payment.status,
      amount: payment.amount,
      currency: payment.currency,
      payable_type: payment.payable.type,
      payable_id: payment.payable.id,
      description: payment.description,
      customer: payment.customer && JSON.stringify(payment.customer),
      metadata: payment.metadata && JSON.stringify(payment.metadata),
      return_url: payment.returnUrl,
      checkout_reference: payment.checkoutReference,
      provider_reference: payment.providerReference,
      checkout_url: payment.checkoutUrl,
      expires_at: payment.expiresAt,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && toPayment(row)
}

export function toPayment(row: Selectable<PaymentsTable>): Payment {
  return {
    id: row.id,
    type: row.type,
    parentId: row.parent_id,
    gateway: row.gateway,
    merchantAccount: row.merchant_account,
    live: row.live,
    status: row.status,
    amount: row.amount,
    currency: row.currency,
    payable: { type: row.payable_type, id: row.payable_id },
    description: row.description,
    customer: readObject(row.customer),
    metadata: readObject(row.metadata),
    returnUrl: row.return_url,
    checkoutReference: row.checkout_reference,
    providerReference: row.provider_reference,
    checkoutUrl: row.checkout_url,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

function readObject(text: string | null): Record<string, unknown> | null {
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>)
}
