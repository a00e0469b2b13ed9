import { QuittanceError } from '../../kernel/errors.ts'
import { invoiceFilters } from '../../invoices/invoice.ts'
import { invoiceSchema, invoiceView } from '../../wire/invoice.ts'
import { pageSchema, pageView } from '../../wire/page.ts'
import { safeHeaders } from '../respond.ts'
import { invoiceBody, noFields } from './bodies.ts'
import { idOf } from './params.ts'
import { exportQuery, invoicesQuery } from './queries.ts'
import { listQueryOf } from './read-request.ts'
import { listErrors } from './refusals.ts'
import { route } from './route.ts'

const ofInvoice = idOf('the document')
const types = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl' } as const

/** `/invoices` of the management API, and the one of a payment. */
export const invoiceRoutes = [
  route({
    name: 'issueInvoice',
    method: 'POST',
    path: '/payments/{id}/invoice',
    summary: 'Issues the document of a payment',
    params: idOf('the payment'),
    body: invoiceBody,
    answers: { 201: invoiceSchema },
    errors: ['payment_not_found', 'invoice_invalid', 'invoice_exists'],
    handle: async ({ core, params, body }) => {
      return { status: 201, body: invoiceView(await core.invoices.issue(params.id, body)) }
    },
  }),
  route({
    name: 'listInvoices',
    method: 'GET',
    path: '/invoices',
    summary: 'Lists documents, newest first',
    query: invoicesQuery,
    answers: { 200: pageSchema(invoiceSchema) },
    errors: listErrors,
    handle: async ({ core, query: asked }) => {
      const page = await core.invoices.list(listQueryOf(core, invoiceFilters, asked))
      return { status: 200, body: pageView(page, invoiceView) }
    },
  }),
  route({
    name: 'exportInvoices',
    method: 'GET',
    path: '/invoices/export',
    summary: 'All documents of a month, of real money or of test money, as a stream',
    query: exportQuery,
    answers: {
      200: {
        text: {
          [types.csv]: 'A table with a line of names: RFC 4180.',
          [types.jsonl]: 'A document a line, each as `GET /invoices/{id}` answers it.',
        },
      },
    },
    errors: ['query_invalid'],
    isRecorded: true,
    handle: ({ core, query: { month, format = 'csv', test = false } }) => {
      const name = `invoices-${test ? 'test-' : ''}${month}.${format}`
      return streamed(core.invoices.export({ month, format, test }), { name, type: types[format] })
    },
  }),
  route({
    name: 'getInvoice',
    method: 'GET',
    path: '/invoices/{id}',
    summary: 'One document',
    params: ofInvoice,
    answers: { 200: invoiceSchema },
    errors: ['invoice_not_found'],
    handle: async ({ core, params }) => {
      const found = await core.invoices.get(params.id)
      if (found === undefined) {
        throw new QuittanceError('invoice_not_found', 'there is no document with this id')
      }
      return { status: 200, body: invoiceView(found) }
    },
  }),
  route({
    name: 'voidInvoice',
    method: 'POST',
    path: '/invoices/{id}/void',
    summary: 'Voids a document that is owed; it keeps its number',
    params: ofInvoice,
    body: noFields,
    answers: { 200: invoiceSchema },
    errors: ['invoice_not_found', 'invoice_not_voidable'],
    handle: async ({ core, params }) => {
      return { status: 200, body: invoiceView(await core.invoices.void(params.id)) }
    },
  }),
]

/** As fast as it is read: the next page is looked up when the reader has taken the one before. */
function streamed(
  lines: AsyncIterable<string>,
  { name, type }: { readonly name: string; readonly type: string },
): Response {
  const body = ReadableStream.from(lines).pipeThrough(new TextEncoderStream())
  return new Response(body, {
    headers: {
      'content-type': type,
      'content-disposition': `attachment; filename="${name}"`,
      ...safeHeaders,
    },
  })
}
