import { Hono, type Context } from 'hono'
import { standingsOf } from '../../billing/standings-of.ts'
import type { BillingCore } from '../../billing/types.ts'
import type { Invoice } from '../../invoices/invoice.ts'
import type { StandingState } from '../../payments/standing.ts'
import { withUuid } from '../../kernel/uuid.ts'
import { onlyAllow } from '../respond.ts'
import { shareLooks } from '../share-looks.ts'
import { invoiceDocument, unknownInvoicePage } from './invoice-view.ts'
import { lookOf } from './look.ts'
import type { PageContext } from './page-context.ts'

/** Where documents are. */
export const invoicePages = '/billing/invoices'

/**
 * `/billing/invoices/{id}`: a document, to read and to print. Whoever has the address may read it, as
 * with payment links: nobody can guess the id.
 */
export function invoicePage({ core, now }: PageContext): Hono {
  const app = new Hono()
  const find = shareLooks((id) => core.invoices.get(id))
  app.get('/:id', async (c: Context) => {
    const invoice = await withUuid(c.req.param('id'), find)
    if (invoice === undefined) return unknownInvoicePage(lookOf(core, c))
    const { locale, currency, gateway } = invoice
    const customer = locale === null ? null : { locale }
    const look = lookOf(core, c, { customer, currency })
    const gatewayTitle = core.gateways()[gateway]?.title ?? gateway
    const state = await stateOf(core, invoice)
    return invoiceDocument(invoice, { gatewayTitle, now: now(), state }, look)
  })
  app.all('/:id', onlyAllow('GET, HEAD'))
  return app
}

/** Of a document that is paid: how its payment stands. */
async function stateOf(
  core: BillingCore,
  { status, paymentId: id }: Invoice,
): Promise<StandingState | undefined> {
  if (status !== 'paid' || id === null) return undefined
  const paid = { id, status }
  return (await standingsOf(core, [paid]))(paid).state
}
