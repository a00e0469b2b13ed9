import {
  eachInvoice,
  listInvoices,
  type ExportedInvoices,
  type InvoicesQuery,
} from '../database/list-invoices.ts'
import { findInvoice, type InvoiceUrl } from '../database/read-invoices.ts'
import { monthOf, type Span } from '../invoices/number.ts'
import { fieldError } from '../kernel/errors.ts'
import { readUuid, withUuid } from '../kernel/uuid.ts'
import { readInvoiceInput } from '../money/invoice-input.ts'
import { issueInvoice } from '../money/issue-invoice.ts'
import { voidOwedInvoice } from '../money/void-invoice.ts'
import { refuseInsideListener } from '../listeners/listener-scope.ts'
import type { InvoiceFormat } from '../invoices/invoice.ts'
import { invoiceLinesOf } from '../wire/invoice-export.ts'
import { invoiceSnapshotOf } from '../wire/invoice.ts'
import { handle } from './handles.ts'
import { checked, exportQuery, invoicesQuery } from './list-queries.ts'
import type { ExportInvoicesInput, InvoiceOperations } from './invoice-types.ts'
import type { Runtime } from './runtime.ts'

/** `billing.invoices` */
export function invoiceOperations(runtime: Runtime): InvoiceOperations {
  const { timeZone } = runtime.settings.invoices
  const urlOf: InvoiceUrl = (id) => `${runtime.settings.origin}/billing/invoices/${id}`
  const writing = async (what: string) => {
    refuseInsideListener(`billing.invoices.${what}`)
    return runtime.context()
  }
  return {
    issue: async (paymentId, input = {}) => {
      const context = await writing('issue')
      return invoiceSnapshotOf(await issueInvoice(paymentId, readInvoiceInput(input), context))
    },
    get: async (id) => {
      const db = await handle(runtime, 'billing.invoices.get')
      const invoice = await withUuid(id, (known) => findInvoice(db, known, urlOf))
      return invoice && invoiceSnapshotOf(invoice)
    },
    list: async (query = {}) => {
      const db = await handle(runtime, 'billing.invoices.list')
      const spanIn = (month: string) => spanOf(month, timeZone)
      const page = await listInvoices(db, checkedQuery(query), { spanOf: spanIn, urlOf })
      return { ...page, data: page.data.map(invoiceSnapshotOf) }
    },
    void: async (id) => invoiceSnapshotOf(await voidOwedInvoice(id, await writing('void'))),
    export: (input) => exported(runtime, { ...readExport(input, timeZone), urlOf }),
  }
}

interface Exported extends ExportedInvoices {
  readonly format: InvoiceFormat
}

/** What is wrong with it is thrown at once, not by the first piece. */
function readExport(input: ExportInvoicesInput, timeZone: string): Exported {
  const { month, format = 'csv', test = false } = checked(exportQuery, input)
  return { span: spanOf(month, timeZone), format, test }
}

async function* exported(
  runtime: Runtime,
  { format, urlOf, ...which }: Exported & { readonly urlOf: InvoiceUrl },
): AsyncGenerator<string, void> {
  const db = await handle(runtime, 'billing.invoices.export')
  yield* invoiceLinesOf(eachInvoice(db, which, urlOf), format)
}

function checkedQuery(query: InvoicesQuery): InvoicesQuery {
  const asked = checked(invoicesQuery, query)
  const ids = { paymentId: asked.paymentId, subscriptionId: asked.subscriptionId }
  const wrong = Object.entries(ids).find(([, id]) => id !== undefined && readUuid(id) === undefined)
  if (wrong !== undefined) throw fieldError('query_invalid', wrong[0], 'must be a UUID')
  return asked
}

function spanOf(month: string, timeZone: string): Span {
  const span = monthOf(month, timeZone)
  if (span !== undefined) return span
  throw fieldError('query_invalid', 'month', 'must be a month such as 2026-11')
}
