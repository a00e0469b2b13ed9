import { html } from 'hono/html'
import type { CheckoutForm } from '../../billing/types.ts'
import type { Payment } from '../../payments/payment.ts'
import { humanTime } from '../human-time.ts'
import { page } from './layout.ts'
import type { Look } from './look.ts'
import { payPath, type ShownPayment } from './page-context.ts'
import {
  help,
  linkButton,
  paymentDetails,
  summary,
  takenBackWords,
  wayBack,
} from './payment-view.ts'
import { submitForm } from './scripts.ts'

/** Why a payment link does not lead to a checkout. */
export type NotPayable = 'paid' | 'canceled' | 'expired' | 'not_answered' | 'no_checkout'

const words = {
  paid: { mark: 'paid', heading: 'alreadyPaidHeading', text: 'alreadyPaidText' },
  canceled: { mark: 'canceled', heading: 'canceledHeading', text: 'canceledLinkText' },
  expired: { mark: 'canceled', heading: 'expiredHeading', text: 'expiredText' },
  not_answered: { mark: 'pending', heading: 'notReadyHeading', text: 'notReadyText' },
  no_checkout: { mark: 'canceled', heading: 'notPayableHeading', text: 'notPayableText' },
} as const satisfies Readonly<Record<NotPayable, object>>

export function notPayablePage(
  found: ShownPayment,
  why: NotPayable,
  look: Look,
): Promise<Response> {
  const { payment, standing } = found
  const { say, tag, query } = look.language
  const { mark, ...keys } = words[why]
  const time = payment.expiresAt === null ? '' : humanTime(payment.expiresAt, tag)
  const back = takenBackWords(found, look)
  const { heading, text } = back ?? { heading: say(keys.heading), text: say(keys.text, { time }) }
  const retry = why === 'not_answered' && linkButton(payPath(payment) + query, say('tryAgain'))
  const way = wayBack(payment, look, retry === false)
  const body = html`<h1>${heading}</h1>
    <p>${text}</p>
    ${summary(payment, look)}
    <div class="actions">${retry}${way}${standing.state !== 'paid' && help(look)}</div>
    ${paymentDetails(payment, look)}`
  return page(look, { title: heading, mark: back === undefined ? mark : standing.state, body })
}

/** The form that the payer's browser posts to the provider, automatically or by a button. */
export function formPage(
  payment: Payment,
  { action, fields }: CheckoutForm,
  { gatewayTitle: gateway, look }: { readonly gatewayTitle: string; readonly look: Look },
): Promise<Response> {
  const { say } = look.language
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  )
  const title = say('continueTo', { gateway })
  const body = html`<h1>${say('formHeading')}</h1>
    <p>${say('formText', { gateway })}</p>
    ${summary(payment, look)}
    <form method="post" action="${action}">
      ${inputs}
      <button class="go">${title}</button>
    </form>
    ${paymentDetails(payment, look)}`
  return page(look, {
    title,
    body,
    scripts: [submitForm.path],
    policy: { 'script-src': ["'self'"], 'form-action': [new URL(action).origin] },
  })
}
