import { sql, type Kysely, type RawBuilder } from 'kysely'
import { invoiceFilters, type Invoice } from '../invoices/invoice.ts'
import type { Span } from '../invoices/number.ts'
import type { FilterValues } from '../kernel/noun.ts'
import { conditionsOf } from './conditions.ts'
import { pageLimit, readCursor, toPage, type Page, type PageQuery } from './page.ts'
import { invoiceColumns, toInvoices, type InvoiceRow, type InvoiceUrl } from './read-invoices.ts'
import type { Tables } from './tables.ts'

/** Which documents to list: those that fit all of it; all of them if left out. */
export interface InvoicesQuery extends PageQuery, FilterValues<typeof invoiceFilters> {}

/** Newest first. */
export async function listInvoices(
  db: Kysely<Tables>,
  query: InvoicesQuery,
  { spanOf, urlOf }: { readonly spanOf: (month: string) => Span; readonly urlOf: InvoiceUrl },
): Promise<Page<Invoice>> {
  const limit = pageLimit(query)
  const after = readCursor(query.cursor)
  const conditions = [
    sql`true`,
    ...conditionsOf(invoiceFilters, query, {
      month: (month) => within(spanOf(month)),
      test: ofMoney,
    }),
    ...(after === undefined ? [] : [sql`(issued_at, id) < (${after.at}, ${after.id}::uuid)`]),
  ]
  const { rows } = await sql<InvoiceRow>`
    select ${invoiceColumns} from billing.invoices
    where ${sql.join(conditions, sql` and `)}
    order by issued_at desc, id desc limit ${limit + 1}`.execute(db)
  const invoices = await toInvoices(db, rows, urlOf)
  return toPage(invoices, query, ({ issuedAt, id }) => ({ at: issuedAt, id }))
}

function within({ from, until }: Span): RawBuilder<boolean> {
  return sql`issued_at >= ${from} and issued_at < ${until}`
}

/** What is not known to be test money counts as real. */
function ofMoney(test: boolean): RawBuilder<boolean> {
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
