import { html } from 'hono/html'
import { standingsOf } from '../../billing/standings-of.ts'
import type { Html } from '../../http/pages/layout.ts'
import { isUuid } from '../../kernel/ids.ts'
import type { PaymentDetails } from '../../wire/payment-details.ts'
import { actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { paymentBadge } from '../parts/choices.ts'
import { customerOf } from '../parts/customer.ts'
import { payableOf } from '../parts/payable.ts'
import { shown } from '../parts/shown.ts'
import { facts, type Cell } from '../parts/table.ts'
import { timeline } from '../parts/timeline.ts'
import { amount, idLink, idText, modeBadge, nothing, shortId, time } from '../parts/values.ts'

/** One payment: what it is, and what happened to it. */
export async function paymentPage(visit: Visit): Promise<ConsolePage | undefined> {
  const { console, params } = visit
  const { id = '' } = params
  const payment = isUuid(id) ? await console.core.payments.get(id) : undefined
  if (payment === undefined) return undefined
  const standing = (await standingsOf(console.core, [payment]))(payment)
  const history = await console.core.inspect.timeline(id)
  return {
    title: `Payment ${shortId(id)}`,
    section: 'payments',
    beside: html`${paymentBadge(standing)} ${modeBadge(payment.live)} ${amount(payment)}
      <span class="actions">${actionsOf(visit, payment)}</span>`,
    refreshSeconds: 10,
    body: html`<div id="facts" data-live>${factsOf(visit, payment)}</div>
      ${history && timeline(visit, history)}`,
  }
}

function actionsOf(visit: Visit, payment: PaymentDetails): Html {
  const at = `${visit.console.path}/payments/${payment.id}`
  const isCharge = payment.type === 'charge'
  const canCancel = isCharge && (payment.status === 'pending' || payment.status === 'failed')
  const { console } = visit
  const canAsk = console.core.gateways()[payment.gateway]?.capabilities.poll === true
  const canSign = (console.development?.scenarios(payment.gateway).length ?? 0) > 0
  const test = `${console.path}/gateways/${payment.gateway}/test?payment=${payment.id}`
  return html`${canSign && actionLink(visit, test, 'Send a test callback')}
  ${canAsk && actionLink(visit, `${at}/ask`, 'Ask now')}
  ${canCancel && actionLink(visit, `${at}/cancel`, 'Cancel')}
  ${payment.refundable > 0n && actionLink(visit, `${at}/refund`, 'Refund')}`
}

function factsOf({ console }: Visit, payment: PaymentDetails): Html {
  const now = console.now()
  const { period, parentId } = payment
  const entries: readonly (readonly [string, Cell])[] = [
    ['Id', idText(payment.id)],
    ['Gateway', payment.gateway],
    ['Account', payment.merchantAccount === null ? nothing : shown(payment.merchantAccount)],
    ['For', payableOf(console, payment.payable)],
    ['Customer', customerOf(payment)],
    ['Description', payment.description === null ? nothing : shown(payment.description)],
    ['Checkout', html`${payment.checkout} ${idText(payment.checkoutReference)}`],
    ['Charge at the provider', chargeOf(console, payment)],
    ['Refunded', amount({ amount: payment.refunded, currency: payment.currency })],
    ['Created', time(payment.createdAt, now)],
    ['Handed over', time(payment.handedAt, now)],
    ['Expires', time(payment.expiresAt, now)],
  ]
  const some: readonly (readonly [string, Cell])[] = [
    ...(payment.declineCode === null ? [] : [['Declined', shown(payment.declineCode)] as const]),
    ...(payment.operationError === null
      ? []
      : [['The provider said', shown(payment.operationError)] as const]),
    ...(payment.pollError === null ? [] : [['Last poll', shown(payment.pollError)] as const]),
    ...(parentId === null ? [] : [['Refund of', linkTo(console, 'payments', parentId)] as const]),
    ...(period === null
      ? []
      : [['Subscription', linkTo(console, 'subscriptions', period.subscriptionId)] as const]),
  ]
  return facts([...entries, ...some])
}

/** Its id at the provider, and the page of it there. */
function chargeOf({ core }: Visit['console'], payment: PaymentDetails): Html {
  const { providerReference: id } = payment
  const url = core.inspect.dashboardUrl(payment)
  if (url === undefined) return idText(id)
  const { title = payment.gateway } = core.gateways()[payment.gateway] ?? {}
  return html`${id !== null && idText(id)} <a href="${url}" rel="noreferrer">${title} dashboard</a>`
}

function linkTo({ path }: Visit['console'], section: string, id: string): Html {
  return idLink(`${path}/${section}/${id}`, id)
}
