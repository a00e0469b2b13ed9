import { sql, type Kysely } from 'kysely'
import { followProvider } from '../invoices/follow-provider.ts'
import type { InvoiceLine, InvoiceStatus } from '../invoices/invoice.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Payable } from '../payments/payment.ts'
import { insertInvoiceEvents } from './deferred-events.ts'
import type { InvoiceOrigin } from './invoices.ts'
import { writeLines } from './read-invoices.ts'
import type { Tables } from './tables.ts'

/** What a provider says of a document of its own, about something of ours. */
export interface ProviderInvoice {
  readonly gateway: string
  readonly merchantAccount: string | null
  readonly live: boolean | null
  /** The provider's id of it. */
  readonly reference: string
  readonly status: InvoiceStatus
  readonly number: string | null
  readonly url: string | null
  readonly payable: Payable
  readonly paymentId: string | null
  readonly subscriptionId: string | null
  readonly total: bigint
  readonly currency: string
  readonly lines: readonly InvoiceLine[]
  readonly locale: string | null
  readonly issuedAt: Date
  readonly dueAt: Date | null
  /** When it was paid, or voided, if it is. */
  readonly endedAt: Date
}

interface KnownRow {
  readonly id: string
  readonly status: InvoiceStatus
  readonly subscription_id: string | null
  readonly payment_id: string | null
}

/**
 * Writes what is said of a provider's document, in whatever order it comes: what is missing is filled
 * in, and its status only goes on. Each of its events is written once. Returns whether it said
 * anything new.
 */
export async function recordProviderInvoice(
  db: Kysely<Tables>,
  stated: ProviderInvoice,
  origin: InvoiceOrigin,
): Promise<boolean> {
  const added = await insertOne(db, stated, origin.newId)
  if (added !== undefined) {
    await tell(db, { ...added, origin })
    return true
  }
  const known = await lockOne(db, stated)
  const status = followProvider(known.status, stated.status)
  const changed = await fillIn(db, { known, stated, status })
  if (changed !== undefined && known.status !== status) await tell(db, { ...changed, origin })
  return changed !== undefined
}

/** A document that nobody has heard of before it was void has no events at all. */
async function tell(
  db: Kysely<Tables>,
  { origin, ...row }: KnownRow & { readonly origin: InvoiceOrigin },
): Promise<void> {
  if (row.status === 'void') return
  const { id, status, subscription_id: subscriptionId, payment_id: paymentId } = row
  const types = status === 'paid' ? (['InvoiceIssued', 'InvoicePaid'] as const) : issuedAlone
  await insertInvoiceEvents(db, { id, subscriptionId, paymentId }, { ...origin, types })
}

const issuedAlone = ['InvoiceIssued'] as const

async function insertOne(
  db: Kysely<Tables>,
  stated: ProviderInvoice,
  newId: NewId,
): Promise<KnownRow | undefined> {
  const { status, endedAt } = stated
  return db
    .insertInto('billing.invoices')
    .values({
      id: newId(),
      issuer: 'provider',
      status,
      number_text: stated.number,
      payment_id: stated.paymentId,
      subscription_id: stated.subscriptionId,
      payable_type: stated.payable.type,
      payable_id: stated.payable.id,
      gateway: stated.gateway,
      merchant_account: stated.merchantAccount,
      live: stated.live,
      provider_reference: stated.reference,
      url: stated.url,
      currency: stated.currency,
      total: stated.total,
      lines: writeLines(stated.lines),
      locale: stated.locale,
      time_zone: 'UTC',
      issued_at: stated.issuedAt,
      due_at: stated.dueAt,
      paid_at: status === 'paid' ? endedAt : null,
      voided_at: status === 'void' ? endedAt : null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'status', 'subscription_id', 'payment_id'])
    .executeTakeFirst()
}

async function lockOne(db: Kysely<Tables>, stated: ProviderInvoice): Promise<KnownRow> {
  const { gateway, reference, merchantAccount } = stated
  const { rows } = await sql<KnownRow>`
    select id, status, subscription_id, payment_id from billing.invoices
    where gateway = ${gateway} and provider_reference = ${reference}
      and coalesce(merchant_account, '') = coalesce(${merchantAccount}::text, '')
    for no key update`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error(`the document ${reference} is neither new nor known`)
  return row
}

/** Undefined: nothing of it is new. */
async function fillIn(
  db: Kysely<Tables>,
  filling: {
    readonly known: KnownRow
    readonly stated: ProviderInvoice
    readonly status: InvoiceStatus
  },
): Promise<KnownRow | undefined> {
  const { known, stated, status } = filling
  const paidAt = status === 'paid' ? stated.endedAt : null
  const voidedAt = status === 'void' ? stated.endedAt : null
  const { rows } = await sql<KnownRow>`
    update billing.invoices as known
    set status = ${status}, number_text = coalesce(number_text, ${stated.number}),
      url = coalesce(url, ${stated.url}), live = coalesce(live, ${stated.live}::boolean), due_at = coalesce(due_at, ${stated.dueAt}),
      payment_id = coalesce(payment_id, ${stated.paymentId}::uuid),
      subscription_id = coalesce(subscription_id, ${stated.subscriptionId}::uuid),
      paid_at = coalesce(paid_at, ${paidAt}),
      voided_at = case when ${status}::text = 'void'
        then coalesce(voided_at, ${voidedAt}::timestamptz) end,
      updated_at = statement_timestamp()
    where id = ${known.id}::uuid and (status <> ${status}
      or (number_text is null and ${stated.number}::text is not null)
      or (url is null and ${stated.url}::text is not null)
      or (live is null and ${stated.live}::boolean is not null)
      or (due_at is null and ${stated.dueAt}::timestamptz is not null)
      or (payment_id is null and ${stated.paymentId}::uuid is not null)
      or (subscription_id is null and ${stated.subscriptionId}::uuid is not null))
    returning id, status, subscription_id, payment_id`.execute(db)
  return rows[0]
}
