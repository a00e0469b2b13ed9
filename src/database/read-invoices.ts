import { sql, type Kysely, type Selectable } from 'kysely'
import {
  invoiceLineFields,
  type Invoice,
  type InvoiceBuyer,
  type InvoiceLine,
  type InvoiceSeller,
} from '../invoices/invoice.ts'
import { viewOf } from '../kernel/noun.ts'
import type { InvoicesTable } from './invoice-tables.ts'
import { named } from './named-statements.ts'
import { findPayments } from './payments.ts'
import { takenBack } from './refunds.ts'
import { findPeriods } from './subscription-periods.ts'
import type { Tables } from './tables.ts'

/** Columns that `toInvoices` reads. */
const columns = [
  'id',
  'issuer',
  'status',
  'series',
  'number_text',
  'period_id',
  'payment_id',
  'subscription_id',
  'payable_type',
  'payable_id',
  'gateway',
  'merchant_account',
  'live',
  'provider_reference',
  'url',
  'currency',
  'total',
  'lines',
  'seller',
  'buyer',
  'locale',
  'time_zone',
  'issued_at',
  'due_at',
  'paid_at',
  'voided_at',
] as const satisfies readonly (keyof InvoicesTable)[]

export type InvoiceRow = Pick<Selectable<InvoicesTable>, (typeof columns)[number]>
export const invoiceColumns = sql.raw(columns.join(', '))

/** Where a document of ours can be read, by its id. */
export type InvoiceUrl = (id: string) => string

export async function findInvoice(
  db: Kysely<Tables>,
  id: string,
  urlOf: InvoiceUrl,
): Promise<Invoice | undefined> {
  return (await findInvoices(db, [id], urlOf)).get(id)
}

/** By id; ids without a document are left out. */
export async function findInvoices(
  db: Kysely<Tables>,
  ids: readonly string[],
  urlOf: InvoiceUrl,
): Promise<ReadonlyMap<string, Invoice>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<InvoiceRow>`${named('find-invoices')}
    select ${invoiceColumns} from billing.invoices where id = any(${[...ids]}::uuid[])`.execute(db)
  const invoices = await toInvoices(db, rows, urlOf)
  return new Map(invoices.map((invoice) => [invoice.id, invoice]))
}

/**
 * Documents as they stand. What went back of their payments, and a mode that became known after the
 * issue, is read from the payments each time: no process can forget to write it down, and none has to
 * know of documents.
 */
export async function toInvoices(
  db: Kysely<Tables>,
  rows: readonly InvoiceRow[],
  urlOf: InvoiceUrl,
): Promise<readonly Invoice[]> {
  if (rows.length === 0) return []
  const charges = rows.flatMap(chargesOf)
  const periodIds = rows.flatMap(({ period_id: id }) => id ?? [])
  const sumsOf = charges.length === 0 ? undefined : await takenBack(db, charges)
  const modes = await findPayments(
    db,
    charges.flatMap(({ id, live }) => (live === null ? id : [])),
  )
  const periods = await findPeriods(db, periodIds)
  return rows.map((row) => {
    const period = row.period_id === null ? undefined : periods.get(row.period_id)
    const [charge] = chargesOf(row)
    return toInvoice(row, {
      live: row.live ?? modes.get(row.payment_id ?? '')?.live ?? null,
      credited: (charge && sumsOf?.(charge).credited) ?? 0n,
      period: period ? { startsAt: period.startsAt, endsAt: period.endsAt } : null,
      url: row.issuer === 'us' ? urlOf(row.id) : row.url,
    })
  })
}

/** The payment of a document, as far as the document says it. */
function chargesOf({ payment_id: id, total: amount, currency, live }: InvoiceRow) {
  return id === null ? [] : [{ id, amount, currency, live }]
}

function toInvoice(
  row: InvoiceRow,
  read: Pick<Invoice, 'live' | 'credited' | 'period' | 'url'>,
): Invoice {
  return {
    id: row.id,
    issuer: row.issuer,
    status: row.status,
    number: row.number_text,
    series: row.series,
    live: read.live,
    total: row.total,
    credited: read.credited,
    currency: row.currency,
    lines: readLines(row.lines),
    seller: row.seller === null ? null : (JSON.parse(row.seller) as InvoiceSeller),
    buyer: row.buyer === null ? null : (JSON.parse(row.buyer) as InvoiceBuyer),
    locale: row.locale,
    timeZone: row.time_zone,
    payable: { type: row.payable_type, id: row.payable_id },
    gateway: row.gateway,
    merchantAccount: row.merchant_account,
    subscriptionId: row.subscription_id,
    periodId: row.period_id,
    paymentId: row.payment_id,
    period: read.period,
    providerReference: row.provider_reference,
    url: read.url,
    issuedAt: row.issued_at,
    dueAt: row.due_at,
    paidAt: row.paid_at,
    voidedAt: row.voided_at,
  }
}

/** Amounts are exact as JSON numbers: none is above Number.MAX_SAFE_INTEGER. */
function readLines(text: string): readonly InvoiceLine[] {
  const lines = JSON.parse(text) as readonly (Omit<InvoiceLine, 'amount'> & {
    readonly amount: number
  })[]
  return lines.map(({ description, quantity, amount }) => ({
    description,
    quantity,
    amount: BigInt(amount),
  }))
}

const lineView = viewOf(invoiceLineFields)

export function writeLines(lines: readonly InvoiceLine[]): string {
  return JSON.stringify(lines.map(lineView))
}
