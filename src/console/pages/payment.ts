import { html } from 'hono/html'
import { standingsOf } from '../../billing/standings-of.ts'
import type { Html } from '../../http/pages/layout.ts'
import { isUuid } from '../../kernel/uuid.ts'
import { inWords } from '../../kernel/noun.ts'
import { paymentNoun } from '../../wire/listed-payment.ts'
import type { PaymentDetails } from '../../wire/payment-details.ts'
import { actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { paymentBadge } from '../parts/choices.ts'
import { customerOf } from '../parts/customer.ts'
import { payableOf } from '../parts/payable.ts'
import { nounFacts, type Cells } from '../parts/noun.ts'
import { timeline } from '../parts/timeline.ts'
import { amount, idLink, idText, modeBadge, shortId } from '../parts/values.ts'

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

/** What stands beside the title, and what other facts say. */
const elsewhere = ['type', 'status', 'amount', 'currency', 'live', 'refunds']

function factsOf(visit: Visit, payment: PaymentDetails): Html {
  const { console } = visit
  const { period, parentId } = payment
  const url = console.core.inspect.dashboardUrl(payment)
  const { title = payment.gateway } = console.core.gateways()[payment.gateway] ?? {}
  const cells: Cells<PaymentDetails> = {
    id: ({ id }) => idText(id),
    payable: ({ payable }) => payableOf(console, payable),
    customer: customerOf,
    checkoutReference: ({ checkoutReference }) => idText(checkoutReference),
    providerReference: ({ providerReference }) => idText(providerReference),
    ...(parentId !== null && { parentId: () => linkTo(console, 'payments', parentId) }),
    ...(period && {
      periodId: () =>
        html`${period.number} of ${linkTo(console, 'subscriptions', period.subscriptionId)}`,
    }),
    dashboard: () => html`<a href="${url}" rel="noreferrer">${title} dashboard</a>`,
  }
  const dashboard = inWords(() => url ?? null, { label: 'at the provider' })
  const facts = { ...paymentNoun.facts, dashboard }
  const canBePaid = payment.checkout === 'open' && payment.status !== 'paid'
  const without = [
    ...elsewhere,
    ...(payment.saveCard ? [] : ['saveCard']),
    ...(canBePaid ? [] : ['checkoutUrl']),
  ]
  return nounFacts({ ...paymentNoun, facts }, payment, { visit, cells, without })
}

function linkTo({ path }: Visit['console'], section: string, id: string): Html {
  return idLink(`${path}/${section}/${id}`, id)
}
