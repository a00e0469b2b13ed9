import { Hono } from 'hono'
import { html } from 'hono/html'
import { gatewayTitleOf } from '../../billing/known-gateway.ts'
import type { BillingCore, CheckoutForm } from '../../billing/types.ts'
import { isHttpUrl } from '../../gateways/is-http-url.ts'
import type { Payment } from '../../payments/payment.ts'
import { humanTime } from '../human-time.ts'
import { onlyAllow } from '../respond.ts'
import type { SendSignal } from './browser-signals.ts'
import { page, seeOther } from './layout.ts'
import { type Look, lookOf } from './look.ts'
import { type PageContext, type ShownPayment, isOver, isPayable, payPath } from './page-context.ts'
import {
  help,
  payButton,
  paymentBody,
  takenBackWords,
  unknownPaymentPage,
  wayBack,
} from './payment-view.ts'
import { submitForm } from './scripts.ts'

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
    return formPage(payment, way, { gateway: gatewayTitleOf(core, payment.gateway), look })
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

/** Why a payment link does not lead to a checkout. */
type NotPayable = 'paid' | 'canceled' | 'expired' | 'not_answered' | 'no_checkout'

const words = {
  paid: { mark: 'paid', heading: 'alreadyPaidHeading', text: 'alreadyPaidText' },
  canceled: { mark: 'canceled', heading: 'canceledHeading', text: 'canceledLinkText' },
  expired: { mark: 'canceled', heading: 'expiredHeading', text: 'expiredText' },
  not_answered: { mark: 'pending', heading: 'notReadyHeading', text: 'notReadyText' },
  no_checkout: { mark: 'canceled', heading: 'notPayableHeading', text: 'notPayableText' },
} as const satisfies Readonly<Record<NotPayable, object>>

function notPayablePage(found: ShownPayment, why: NotPayable, look: Look): Promise<Response> {
  const { payment, standing } = found
  const { say, tag } = look.language
  const { mark, ...keys } = words[why]
  const time = payment.expiresAt === null ? '' : humanTime(payment.expiresAt, tag)
  const back = takenBackWords(found, look)
  const { heading, text } = back ?? { heading: say(keys.heading), text: say(keys.text, { time }) }
  const retry = why === 'not_answered' && payButton(payment, look, say('tryAgain'))
  const way = wayBack(payment, look, retry === false)
  const body = paymentBody(payment, look, {
    head: html`<h1>${heading}</h1>
      <p>${text}</p>`,
    next: html`<div class="actions">${retry}${way}${standing.state !== 'paid' && help(look)}</div>`,
  })
  return page(look, { title: heading, mark: back === undefined ? mark : standing.state, body })
}

/** The form that the payer's browser posts to the provider, automatically or by a button. */
function formPage(
  payment: Payment,
  { action, fields }: CheckoutForm,
  { gateway, look }: { readonly gateway: string; readonly look: Look },
): Promise<Response> {
  const { say } = look.language
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  )
  const title = say('continueTo', { gateway })
  const body = paymentBody(payment, look, {
    head: html`<h1>${say('formHeading')}</h1>
      <p>${say('formText', { gateway })}</p>`,
    next: html`<form method="post" action="${action}">
      ${inputs}
      <button class="go">${title}</button>
    </form>`,
  })
  return page(look, {
    title,
    body,
    scripts: [submitForm.path],
    policy: { 'script-src': ["'self'"], 'form-action': [new URL(action).origin] },
  })
}
