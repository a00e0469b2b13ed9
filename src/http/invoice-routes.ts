import type { Hono } from 'hono'
import type { BillingCore } from '../billing/types.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { invoiceView } from '../wire/invoice.ts'
import { pageView } from '../wire/page.ts'
import { exportQuery, invoiceBody, invoicesQuery } from './api-input.ts'
import { defined, queryOf, readOptionalJson, requireNoFields } from './api-request.ts'
import { json, onlyAllow, safeHeaders } from './respond.ts'

/** `/invoices` of the management API, and the one of a payment. */
export function invoiceRoutes(api: Hono, core: BillingCore): void {
  const { invoices } = core
  api.post('/payments/:id/invoice', async (c) => {
    const input = invoiceBody(await readOptionalJson(c))
    return json(201, invoiceView(await invoices.issue(c.req.param('id'), input)))
  })
  api.get('/invoices', async (c) => {
    const asked = queryOf(c, invoicesQuery)
    const { payment_id: paymentId, subscription_id: subscriptionId, ...query } = asked
    const page = await invoices.list(defined({ ...query, paymentId, subscriptionId }))
    return json(200, pageView(page, invoiceView))
  })
  api.get('/invoices/export', (c) => {
    const { month, format = 'csv' } = queryOf(c, exportQuery)
    return streamed(invoices.export({ month, format }), { month, format })
  })
  api.get('/invoices/:id', async (c) => {
    const found = await invoices.get(c.req.param('id'))
    if (found === undefined) {
      throw new QuittanceError('invoice_not_found', 'there is no document with this id')
    }
    return json(200, invoiceView(found))
  })
  api.post('/invoices/:id/void', async (c) => {
    await requireNoFields(c)
    return json(200, invoiceView(await invoices.void(c.req.param('id'))))
  })
  api.all('/payments/:id/invoice', onlyAllow('POST'))
  api.all('/invoices', onlyAllow('GET, HEAD'))
  api.all('/invoices/export', onlyAllow('GET, HEAD'))
  api.all('/invoices/:id', onlyAllow('GET, HEAD'))
  api.all('/invoices/:id/void', onlyAllow('POST'))
}

const types = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl' } as const

/** As fast as it is read: the next page is looked up when the reader has taken the one before. */
function streamed(
  lines: AsyncIterable<string>,
  { month, format }: { readonly month: string; readonly format: keyof typeof types },
): Response {
  const body = ReadableStream.from(lines).pipeThrough(new TextEncoderStream())
  return new Response(body, {
    headers: {
      'content-type': types[format],
      'content-disposition': `attachment; filename="invoices-${month}.${format}"`,
      ...safeHeaders,
    },
  })
}
