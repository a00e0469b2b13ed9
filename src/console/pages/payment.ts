import { html } from 'hono/html'
import { gatewayTitleOf } from '../../billing/known-gateway.ts'
import { standingsOf } from '../../billing/standings-of.ts'
import type { Html } from '../../http/pages/layout.ts'
import type { TimelineEntry, TimelineGroup } from '../../inspect/timeline-entry.ts'
import type { Timeline } from '../../inspect/timeline.ts'
import { minutes } from '../../kernel/duration.ts'
import { fieldError } from '../../kernel/errors.ts'
import { amountText, parseMajorUnits } from '../../kernel/money.ts'
import { inWords } from '../../kernel/noun.ts'
import { isUuid } from '../../kernel/uuid.ts'
import { paymentNoun } from '../../wire/listed-payment.ts'
import type { PaymentDetails } from '../../wire/payment-details.ts'
import { type Action, actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { paymentBadge } from '../parts/choices.ts'
import { customerOf } from '../parts/customer.ts'
import { chosenOf, withQuery } from '../parts/filters.ts'
import { type Cells, nounFacts } from '../parts/noun.ts'
import { payableOf } from '../parts/payable.ts'
import { shown } from '../parts/shown.ts'
import { duration } from '../../kernel/figures.ts'
import { amount, idLink, idText, modeBadge, shortId, time } from '../parts/values.ts'
import { entryInWords } from '../words/timeline.ts'

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
  const title = gatewayTitleOf(console.core, payment.gateway)
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

async function paymentOf({ console, params }: Visit): Promise<PaymentDetails | undefined> {
  const { id } = params
  return isUuid(id) ? console.core.payments.get(id) : undefined
}

const idOf = ({ params }: Visit) => params['id'] ?? ''
const back = ({ console, params }: Visit) => `${console.path}/payments/${params['id']}`

/** Asks the provider how the payment stands. */
export const askNow: Action = {
  name: 'pollPayment',
  back,
  question: async (visit) => {
    const payment = await paymentOf(visit)
    return (
      payment && {
        title: 'Ask now?',
        section: 'payments',
        explanation: html`<p>
          ${payment.gateway} is asked how the payment of ${amount(payment)} stands, and its answer
          is applied like a callback: the payment may become paid, and your listeners may run.
        </p>`,
        button: 'Ask now',
      }
    )
  },
  act: async (visit) => {
    const { changed } = await visit.console.core.payments.poll(idOf(visit))
    return { notice: changed ? 'asked' : 'asked_unchanged' }
  },
}

/** Voids the checkout. */
export const cancelPayment: Action = {
  name: 'cancelPayment',
  back,
  question: async (visit) => {
    const payment = await paymentOf(visit)
    return (
      payment && {
        title: 'Cancel the payment?',
        section: 'payments',
        explanation: html`<p>
          The checkout of ${amount(payment)} is closed, at ${payment.gateway} too if it can. If the
          payer has just paid all the same, the payment becomes paid, and needs a person.
        </p>`,
        button: 'Cancel the payment',
      }
    )
  },
  act: async (visit) => {
    await visit.console.core.payments.cancel(idOf(visit))
    return { notice: 'canceled' }
  },
}

/**
 * `1,999.00` without what stands between its thousands. A comma may be a decimal one: where nothing says
 * that it is not, the text is left as it is, which is no amount.
 */
function plainNumber(typed: string): string {
  const text = typed.replaceAll(/\s/g, '')
  return /^\d{1,3}(?:,\d{3})+\.\d+$/.test(text) ? text.replaceAll(',', '') : text
}

/** Gives money back. The form's id is the refund's: the same form is one refund. */
export const refundPayment: Action = {
  name: 'refundPayment',
  movesMoney: true,
  back,
  question: async (visit) => {
    const payment = await paymentOf(visit)
    if (payment === undefined) return undefined
    const left = { amount: payment.refundable, currency: payment.currency }
    return {
      title: 'Refund?',
      section: 'payments',
      explanation: html`<p>
        Of ${amount(payment)}, ${amount(left)} can go back. ${payment.gateway} is asked for it at
        once. It cannot be taken back.
      </p>`,
      fields: html`<label
          >Amount in ${payment.currency}, typed
          <input
            name="amount"
            inputmode="decimal"
            autocomplete="off"
            placeholder="${amountText(left)}"
            maxlength="20"
            required
        /></label>
        <label
          >Reason, for the audit and the provider
          <input name="reason" maxlength="500" autocomplete="off"
        /></label>`,
      button: 'Refund',
    }
  },
  detail: (form) => ({
    amount: shown(form.get('amount') ?? ''),
    reason: shown(form.get('reason') ?? ''),
  }),
  act: async (visit, { id, form }) => {
    const payment = await paymentOf(visit)
    const amount = parseMajorUnits(plainNumber(form.get('amount') ?? ''), payment?.currency)
    if (amount === undefined) {
      throw fieldError('refund_invalid', 'amount', 'must be typed like 19.99')
    }
    const reason = (form.get('reason') ?? '').trim()
    const refund = await visit.console.core.refunds.create(idOf(visit), {
      id,
      amount,
      ...(reason !== '' && { reason }),
    })
    return { notice: 'refunded', outcome: refund.status }
  },
}

const groups = [
  'money',
  'callbacks',
  'listeners',
  'problems',
] as const satisfies readonly TimelineGroup[]

const groupNames: Readonly<Record<TimelineGroup, string>> = {
  money: 'Money',
  callbacks: 'Callbacks',
  listeners: 'Listeners',
  problems: 'Problems',
}

/** Longer pauses than this are said, so that nobody takes two days for two seconds. */
const longPause = minutes(1)

/** What happened, in order; one kind of it alone if the address says so. */
function timeline({ console, url }: Visit, { entries, truncated }: Timeline): Html {
  const group = chosenOf(url, 'show', groups)
  const some = entries.filter((entry) => group === undefined || entry.groups.includes(group))
  const now = console.now()
  return html`<h2>What happened</h2>
    <nav class="tabs" aria-label="Which entries">${tabs(url, group)}</nav>
    ${truncated && html`<p class="banner">There is more: the newest 200 of each kind are here.</p>`}
    <div id="timeline" data-live>
      ${
        some.length === 0
          ? html`<p class="panel">Nothing of this kind has happened.</p>`
          : html`<table class="rows timeline">
              <caption class="unseen">
                What happened, oldest first
              </caption>
              <thead>
                <tr>
                  <th scope="col">At</th>
                  <th scope="col">What</th>
                  <th scope="col">How</th>
                </tr>
              </thead>
              <tbody>
                ${some.map((entry, at) => [pause(some[at - 1], entry), row(console.path, entry, now)])}
              </tbody>
            </table>`
      }
    </div>`
}

function tabs(url: URL, current: TimelineGroup | undefined): readonly Html[] {
  const all = [[undefined, 'All'], ...groups.map((one) => [one, groupNames[one]] as const)] as const
  return all.map(([group, name]) => {
    const mark = group === current && html`aria-current="true"`
    return html`<a href="${withQuery(url, { show: group })}" ${mark}>${name}</a>`
  })
}

function pause(before: TimelineEntry | undefined, entry: TimelineEntry): Html | false {
  if (before === undefined) return false
  const length = entry.at.getTime() - before.at.getTime()
  return (
    length > longPause &&
    html`<tr class="gap">
      <td colspan="3">${duration(length)}</td>
    </tr>`
  )
}

function row(path: string, entry: TimelineEntry, now: Date): Html {
  const { mark, what, text, to, isProblem = false } = entryInWords(entry)
  const name = shown(what)
  return html`<tr>
    <td data-label="At"><span>${time(entry.at, now)}</span></td>
    <td data-label="What">
      <span>
        <span class="mark" aria-hidden="true">${mark}</span>
        ${to === undefined ? name : html`<a href="${path}${to}">${name}</a>`}
      </span>
    </td>
    <td data-label="How"><span class="${isProblem ? 'bad' : ''}">${shown(text)}</span></td>
  </tr>`
}
