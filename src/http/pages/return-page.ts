import { Hono } from 'hono'
import { readUuid } from '../../kernel/uuid.ts'
import { readBody } from '../read-body.ts'
import { onlyAllow } from '../respond.ts'
import type { SendSignal } from './browser-signals.ts'
import { seeOther } from './layout.ts'
import { lookOf } from './look.ts'
import { isPayable, returnPath, type PageContext } from './page-context.ts'
import { unknownPaymentPage } from './payment-view.ts'
import { returnView } from './return-view.ts'
import { statusStreams } from './status-stream.ts'

/** Larger bodies than any provider posts are not even discarded. */
const mostDiscardedBytes = 64 * 1024

/**
 * `/billing/return/{payment}`: where a browser comes back to. It shows how the payment stands and
 * changes nothing: what the browser brings along is ignored, whoever signed it.
 */
export function returnPage(context: PageContext, signal: SendSignal): Hono {
  const { core, now } = context
  const app = new Hono()
  app.get('/:payment', async (c) => {
    const found = await context.findCharge(c.req.param('payment'))
    const look = lookOf(core, c, found?.payment)
    if (found === undefined) return unknownPaymentPage(look)
    const { payment } = found
    if (c.req.method === 'GET') signal('CheckoutReturned', payment)
    const gatewayTitle = core.gateways()[payment.gateway]?.title ?? payment.gateway
    return returnView(found, { canPay: isPayable(payment, now()), gatewayTitle }, look)
  })
  // Some providers post their fields here; a page loaded by GET can be reloaded.
  app.post('/:payment', async (c) => {
    const id = readUuid(c.req.param('payment'))
    await readBody(c, mostDiscardedBytes)
    const look = lookOf(core, c)
    if (id === undefined) return unknownPaymentPage(look)
    return seeOther(returnPath(id) + look.language.query)
  })
  app.all('/:payment', onlyAllow('GET, HEAD, POST'))
  app.get('/:payment/status', statusStreams(context))
  app.all('/:payment/status', onlyAllow('GET, HEAD'))
  return app
}
