import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Invoice, InvoiceStatus } from '../invoices/invoice.ts'
import type { Span } from '../invoices/number.ts'
import { pageLimit, readCursor, toPage, type Page, type PageQuery } from './page.ts'
import { invoiceColumns, toInvoices, type InvoiceRow, type InvoiceUrl } from './read-invoices.ts'
import type { Tables } from './tables.ts'

/** Which documents to list: those that fit all of it; all of them if left out. */
export interface InvoicesQuery extends PageQuery {
  readonly payable?: { readonly type: string; readonly id: string }
  readonly subscriptionId?: string
  readonly paymentId?: string
  readonly status?: InvoiceStatus
  readonly series?: string
  /** In which they were issued, such as `2026-11`: a month of the time zone of the settings. */
  readonly month?: string
  /** True: those of test money alone; false: without them. */
  readonly test?: boolean
}

/** Newest first. */
export async function listInvoices(
  db: Kysely<Tables>,
  query: InvoicesQuery,
  { span, urlOf }: { readonly span: Span | undefined; readonly urlOf: InvoiceUrl },
): Promise<Page<Invoice>> {
  const limit = pageLimit(query)
  const conditions = [sql`true`, ...filters(query), ...(span === undefined ? [] : [within(span)])]
  const { rows } = await sql<InvoiceRow>`
    select ${invoiceColumns} from billing.invoices
    where ${sql.join(conditions, sql` and `)}
    order by issued_at desc, id desc limit ${limit + 1}`.execute(db)
  const invoices = await toInvoices(db, rows, urlOf)
  return toPage(invoices, limit, ({ issuedAt, id }) => ({ at: issuedAt, id }))
}

function filters(query: InvoicesQuery): readonly RawBuilder<unknown>[] {
  const { payable, subscriptionId, paymentId, status, series, test } = query
  const after = readCursor(query.cursor)
  return [
    ...(payable === undefined
      ? []
      : [sql`payable_type = ${payable.type} and payable_id = ${payable.id}`]),
    ...(subscriptionId === undefined ? [] : [sql`subscription_id = ${subscriptionId}::uuid`]),
    ...(paymentId === undefined ? [] : [sql`payment_id = ${paymentId}::uuid`]),
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(series === undefined ? [] : [sql`series = ${series}`]),
    ...(test === undefined ? [] : [ofMoney(test)]),
    ...(after === undefined ? [] : [sql`(issued_at, id) < (${after.at}, ${after.id}::uuid)`]),
  ]
}

function within({ from, until }: Span): RawBuilder<unknown> {
  return sql`issued_at >= ${from} and issued_at < ${until}`
}

/** What is not known to be test money counts as real. */
function ofMoney(test: boolean): RawBuilder<unknown> {
  return test ? sql`not live` : sql`live is distinct from false`
}

/** What is exported: of real money, or of test money. */
export interface ExportedInvoices {
  readonly span: Span
  readonly test: boolean
}

/** How many rows are read at a time. */
const batchRows = 500

interface NumberedSpan {
  readonly series: string
  readonly least: bigint
  readonly most: bigint
}

/**
 * Every such document that was issued in this time, ours in the order of their numbers, then those of
 * providers: a short statement for each page, so that no transaction stays open however slowly it is
 * read. Whoever numbers holds the series until the commit, so all numbers up to the last one that was
 * seen at the beginning are there, or never will be: nothing is missing and nothing comes twice, while
 * others are issued.
 */
export async function* eachInvoice(
  db: Kysely<Tables>,
  exported: ExportedInvoices,
  urlOf: InvoiceUrl,
): AsyncGenerator<Invoice, void> {
  for (const numbered of await numberedIn(db, exported)) {
    yield* ours(db, { numbered, exported, urlOf })
  }
  yield* ofProviders(db, exported, urlOf)
}

function wanted({ span, test }: ExportedInvoices): RawBuilder<unknown> {
  return sql`${within(span)} and ${ofMoney(test)}`
}

async function numberedIn(
  db: Kysely<Tables>,
  exported: ExportedInvoices,
): Promise<readonly NumberedSpan[]> {
  const { rows } = await sql<NumberedSpan>`
    select series, min(number) as least, max(number) as most from billing.invoices
    where issuer = 'us' and ${wanted(exported)} group by series order by series`.execute(db)
  return rows
}

async function* ours(
  db: Kysely<Tables>,
  {
    numbered: { series, least, most },
    exported,
    urlOf,
  }: {
    readonly numbered: NumberedSpan
    readonly exported: ExportedInvoices
    readonly urlOf: InvoiceUrl
  },
): AsyncGenerator<Invoice, void> {
  let after = least - 1n
  for (;;) {
    const { rows } = await sql<InvoiceRow & { readonly place: bigint }>`
      select ${invoiceColumns}, number as place from billing.invoices
      where series = ${series} and number > ${after} and number <= ${most} and ${wanted(exported)}
      order by number limit ${batchRows}`.execute(db)
    yield* await toInvoices(db, rows, urlOf)
    const last = rows.at(-1)
    if (last === undefined || rows.length < batchRows) return
    after = last.place
  }
}

async function* ofProviders(
  db: Kysely<Tables>,
  exported: ExportedInvoices,
  urlOf: InvoiceUrl,
): AsyncGenerator<Invoice, void> {
  let after = { at: new Date(exported.span.from.getTime() - 1), id: smallestId }
  for (;;) {
    const { rows } = await sql<InvoiceRow>`
      select ${invoiceColumns} from billing.invoices
      where issuer = 'provider' and ${wanted(exported)}
        and (issued_at, id) > (${after.at}, ${after.id}::uuid)
      order by issued_at, id limit ${batchRows}`.execute(db)
    yield* await toInvoices(db, rows, urlOf)
    const last = rows.at(-1)
    if (last === undefined || rows.length < batchRows) return
    after = { at: last.issued_at, id: last.id }
  }
}

const smallestId = '00000000-0000-0000-0000-000000000000'
