import { sql, type Kysely } from 'kysely'
import type { DraftInvoice } from '../invoices/draft-invoice.ts'
import { followProvider } from '../invoices/follow-provider.ts'
import type { InvoiceLine, InvoiceStatus } from '../invoices/invoice.ts'
import type { NewId } from '../kernel/ids.ts'
import { daysLater } from '../kernel/wall-time.ts'
import { numberText } from '../invoices/number.ts'
import type { Payable } from '../payments/payment.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import { insertInvoiceEvents, type EventsOrigin } from './deferred-events.ts'
import { named } from './named-statements.ts'
import { writeLines } from './read-invoices.ts'
import type { Tables } from './tables.ts'

/** What led to a change of a document, and how its events are written. */
type InvoiceOrigin = Omit<EventsOrigin, 'subscriptionId'>

/** What a document of our own is about, besides its content. */
export interface InvoiceSubjectIds {
  readonly id: string
  readonly gateway: string
  readonly merchantAccount: string | null
  readonly subscriptionId: string | null
  readonly periodId: string | null
  /** Null for a period that is not paid yet. */
  readonly paymentId: string | null
  /** Null: it is owed. */
  readonly paidAt: Date | null
}

/**
 * Gives a document its number and its date and writes it, with its events: **the last that its transaction does**,
 * for everybody who numbers in this series waits for the commit, and no listener runs before that. If
 * the transaction is rolled back, its number is the next one's: no gap is left.
 */
export async function insertInvoice(
  db: Kysely<Tables>,
  draft: DraftInvoice,
  { origin, ...of }: InvoiceSubjectIds & { readonly origin: InvoiceOrigin },
): Promise<void> {
  const types = of.paidAt === null ? firstEvent : bothEvents
  await insertInvoiceEvents(db, of, { ...origin, types })
  const { number, issuedAt } = await nextNumber(db, draft)
  const dueAt = daysLater(issuedAt, draft.dueDays, draft.timeZone)
  await db
    .insertInto('billing.invoices')
    .values({
      id: of.id,
      issuer: 'us',
      status: of.paidAt === null ? 'issued' : 'paid',
      series: draft.series,
      number,
      number_text: numberText(draft.series, number),
      period_id: of.periodId,
      payment_id: of.paymentId,
      subscription_id: of.subscriptionId,
      payable_type: draft.payable.type,
      payable_id: draft.payable.id,
      gateway: of.gateway,
      merchant_account: of.merchantAccount,
      live: draft.live,
      currency: draft.currency,
      total: draft.total,
      lines: writeLines(draft.lines),
      seller: JSON.stringify(draft.seller),
      buyer: draft.buyer && JSON.stringify(draft.buyer),
      locale: draft.locale,
      time_zone: draft.timeZone,
      issued_at: issuedAt,
      due_at: dueAt,
      paid_at: of.paidAt,
    })
    .execute()
}

const firstEvent = ['InvoiceIssued'] as const
const bothEvents = ['InvoiceIssued', 'InvoicePaid'] as const

interface Numbered {
  readonly number: bigint
  readonly issuedAt: Date
}

/** One statement for both: whoever waits for the number before this one is not dated before it. */
async function nextNumber(
  db: Kysely<Tables>,
  { series, draftedAt }: DraftInvoice,
): Promise<Numbered> {
  const { rows } = await sql<Numbered>`${named('next-invoice-number')}
    insert into billing.invoice_series as series (series, last, issued_at)
    values (${series}, 1, ${draftedAt})
    on conflict (series) do update set last = series.last + 1,
      issued_at = greatest(series.issued_at, excluded.issued_at)
    returning last as number, issued_at as "issuedAt"`.execute(db)
  const [numbered] = rows
  if (numbered === undefined) throw new Error(`the series ${series} gave no number`)
  return numbered
}

interface MarkedRow {
  readonly id: string
  readonly status: 'paid' | 'void'
  readonly subscription_id: string | null
  readonly payment_id: string | null
}

/**
 * Marks the documents of periods that are paid or void by now; one that has none stays without: it
 * cannot be numbered here, because listeners may run in this transaction.
 */
export async function markInvoicesOfPeriods(
  db: Kysely<Tables>,
  periods: readonly SubscriptionPeriod[],
  { now, origin }: { readonly now: Date; readonly origin: InvoiceOrigin },
): Promise<void> {
  const closed = periods.filter(isClosed)
  if (closed.length === 0) return
  const { rows } = await sql<MarkedRow>`${named('mark-invoices-of-periods')}
    update billing.invoices as invoice
    set status = closed.status, payment_id = coalesce(invoice.payment_id, closed.payment_id),
      paid_at = closed.paid_at, voided_at = closed.voided_at, updated_at = statement_timestamp()
    from unnest(
      ${closed.map(({ id }) => id)}::uuid[],
      ${closed.map(({ state }) => state)}::text[],
      ${closed.map(({ paidPaymentId }) => paidPaymentId)}::uuid[],
      ${closed.map(({ state, paidAt }) => (state === 'paid' ? (paidAt ?? now) : null))}::timestamptz[],
      ${closed.map(({ state }) => (state === 'void' ? now : null))}::timestamptz[]
    ) as closed (period_id, status, payment_id, paid_at, voided_at)
    where invoice.period_id = closed.period_id and invoice.status = 'issued'
    returning invoice.id, invoice.status, invoice.subscription_id, invoice.payment_id`.execute(db)
  await writePaidEvents(db, rows, origin)
}

function isClosed({ state, amount }: SubscriptionPeriod): boolean {
  return amount > 0n && (state === 'paid' || state === 'void')
}

/** Marks documents whose payments were paid, in the order of their ids. */
export async function markInvoicesPaid(
  db: Kysely<Tables>,
  ids: readonly string[],
  origin: InvoiceOrigin,
): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await sql<MarkedRow>`${named('mark-invoices-paid')}
    with locked as (
      select id from billing.invoices where id = any(${[...ids]}::uuid[]) and status = 'issued'
      order by id for no key update)
    update billing.invoices as invoice
    set status = 'paid', paid_at = statement_timestamp(), updated_at = statement_timestamp()
    from locked where invoice.id = locked.id
    returning invoice.id, invoice.status, invoice.subscription_id, invoice.payment_id`.execute(db)
  await writePaidEvents(db, rows, origin)
}

async function writePaidEvents(
  db: Kysely<Tables>,
  rows: readonly MarkedRow[],
  origin: InvoiceOrigin,
): Promise<void> {
  for (const { id, status, subscription_id: subscriptionId, payment_id: paymentId } of rows) {
    if (status !== 'paid') continue
    await insertInvoiceEvents(
      db,
      { id, subscriptionId, paymentId },
      { ...origin, types: ['InvoicePaid'] },
    )
  }
}

/** Voids a document that is owed. False: it is not owed any more. */
export async function voidInvoice(db: Kysely<Tables>, id: string, now: Date): Promise<boolean> {
  const { rows } = await sql`
    update billing.invoices set status = 'void', voided_at = ${now}, updated_at = statement_timestamp()
    where id = ${id}::uuid and status = 'issued' and issuer = 'us' returning id`.execute(db)
  return rows.length > 0
}

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
