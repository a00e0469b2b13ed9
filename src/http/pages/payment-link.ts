import { Hono } from 'hono'
import type { BillingCore, CheckoutForm } from '../../billing/types.ts'
import { isHttpUrl } from '../../gateways/is-http-url.ts'
import type { Payment } from '../../payments/payment.ts'
import { onlyAllow } from '../respond.ts'
import type { SendSignal } from './browser-signals.ts'
import { seeOther } from './layout.ts'
import { lookOf, type Look } from './look.ts'
import { isOver, isPayable, payPath, type PageContext } from './page-context.ts'
import { formPage, notPayablePage, type NotPayable } from './payment-link-view.ts'
import { unknownPaymentPage } from './payment-view.ts'

/** `/billing/pay/{payment}`: the payment link. It leads to the checkout, or says why it does not. */
export function paymentLink(context: PageContext, signal: SendSignal): Hono {
  const { core } = context
  const app = new Hono()
  app.get('/:payment', async (c) => {
    const found = await context.findCharge(c.req.param('payment'))
    const look = lookOf(core, c, found?.payment)
    if (found === undefined) return unknownPaymentPage(look)
    const { payment } = found
    // A HEAD request is not a person.
    if (c.req.method === 'GET') signal('PaymentLinkOpened', payment)
    const way = wayToCheckout(payment, context)
    if (typeof way === 'string') return notPayablePage(found, way, look)
    if ('url' in way) return seeOther(inLanguage(way.url, core, look))
    const gatewayTitle = core.gateways()[payment.gateway]?.title ?? payment.gateway
    return formPage(payment, way, { gatewayTitle, look })
  })
  app.all('/:payment', onlyAllow('GET, HEAD'))
  return app
}

function wayToCheckout(
  payment: Payment,
  { core, now }: PageContext,
): NotPayable | CheckoutForm | { readonly url: string } {
  const { status, checkout, checkoutUrl } = payment
  if (status === 'paid' || status === 'canceled') return status
  if (isOver(payment, now())) return 'expired'
  if (checkout === 'unknown') return 'not_answered'
  if (!isPayable(payment, now())) return 'no_checkout'
  const form = core.payments.checkoutForm(payment)
  if (form !== undefined) return isHttpUrl(form.action) ? form : 'no_checkout'
  if (checkoutUrl === null || !isHttpUrl(checkoutUrl)) return 'no_checkout'
  // This page itself, if the gateway's form can no longer be made: it would lead in circles.
  return new URL(checkoutUrl).pathname === payPath(payment) ? 'no_checkout' : { url: checkoutUrl }
}

/** A page of ours gets the language that was chosen; a provider's address stays as it is. */
function inLanguage(url: string, { origin }: BillingCore, { language }: Look): string {
  if (language.query === '' || new URL(url).origin !== origin) return url
  const own = new URL(url)
  own.searchParams.set('lang', language.tag)
  return own.href
}
