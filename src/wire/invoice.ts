import type { InvoiceJson, InvoiceSnapshot } from '../events/invoice-snapshot.ts'
import { moneyText } from '../kernel/money.ts'
import { invoiceFields, invoiceFilters, type Invoice } from '../invoices/invoice.ts'
import { inWords, viewOf, type Noun } from '../kernel/noun.ts'
import { withJson } from '../kernel/with-json.ts'
import { schemaOf } from './noun.ts'

export const invoiceSchema = schemaOf(invoiceFields)
export const invoiceView: (invoice: Invoice) => InvoiceJson = viewOf(invoiceFields)

export const invoiceNoun: Noun<Invoice> = {
  plural: 'documents',
  facts: { ...invoiceFields, lines: inWords(linesText) },
  filters: invoiceFilters,
  columns: ['id', 'number', 'status', 'total', 'buyer', 'issuedAt'],
  view: invoiceView,
}

/** A document as events and lists carry it. */
export function invoiceSnapshotOf(invoice: Invoice): InvoiceSnapshot {
  return withJson({ ...invoice }, invoiceView)
}

/** Such as `2 x Ethiopia Yirgacheffe, 980.00 EUR`: a line of text for each. */
function linesText({ lines, currency }: Invoice): string {
  const texts = lines.map(({ description, quantity, amount }) => {
    const count = quantity === 1 ? '' : `${quantity} x `
    return `${count}${description.replaceAll(/\s+/g, ' ')}, ${moneyText({ amount, currency })}`
  })
  return texts.join('\n')
}
