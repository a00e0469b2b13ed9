import { html } from 'hono/html'
import { QuittanceError, fieldError } from '../../kernel/errors.ts'
import { parseMajorUnits } from '../../kernel/money.ts'
import type { Action } from '../action.ts'
import type { DevelopmentTools, Visit } from '../context.ts'
import { chosen } from '../parts/filters.ts'

// What is there only while an app is developed: a whole first session without a terminal.

function toolsOf({ console }: Visit): DevelopmentTools {
  if (console.development !== undefined) return console.development
  throw new QuittanceError('operation_unsupported', 'nothing is made up in production')
}

const field = (form: URLSearchParams, name: string) => (form.get(name) ?? '').trim()

/** Opens a checkout for an order that nobody has placed. */
export const createTestPayment: Action = {
  name: 'createTestPayment',
  back: ({ console }) => `${console.path}/payments`,
  subject: () => null,
  question: async ({ console }) => {
    const open = Object.values(console.core.gateways()).filter(
      ({ configured, capabilities }) => configured && capabilities.checkout,
    )
    return (
      console.development && {
        title: 'Create a test payment?',
        section: 'payments',
        explanation: html`<p>
          A checkout is opened, as your app would open one. Where the gateway has a provider, it is
          asked: whether money can move depends on your credentials.
        </p>`,
        fields: html`<label
            >Gateway
            <select name="gateway">
              ${open.map(({ name }) => html`<option>${name}</option>`)}
            </select></label
          >
          <label>Amount <input name="amount" inputmode="decimal" value="19.99" required /></label>
          <label>Currency <input name="currency" value="UAH" maxlength="3" required /></label>
          <label>Order <input name="order" value="1" maxlength="100" required /></label>`,
        button: 'Create the payment',
      }
    )
  },
  detail: (form) => ({ gateway: field(form, 'gateway'), amount: field(form, 'amount') }),
  act: async (visit, { id, form }) => {
    toolsOf(visit)
    const currency = field(form, 'currency').toUpperCase()
    const amount = parseMajorUnits(field(form, 'amount'), currency)
    if (amount === undefined) {
      throw fieldError('payment_invalid', 'amount', `must be typed like 19.99, in ${currency}`)
    }
    const payment = await visit.console.core.payments.create({
      id,
      gateway: field(form, 'gateway'),
      amount,
      currency,
      payable: { type: 'order', id: field(form, 'order') },
      description: 'A test payment',
    })
    return { notice: 'payment_created', to: `/payments/${payment.id}` }
  },
}

/** Takes a callback as the provider would sign it. */
export const sendTestCallback: Action = {
  name: 'sendTestCallback',
  back: ({ console, params }) => `${console.path}/gateways/${params['name']}`,
  subject: ({ params }) => params['name'] ?? null,
  question: async ({ console, params, url }) => {
    const { name = '' } = params
    const scenarios = console.development?.scenarios(name) ?? []
    if (scenarios.length === 0) return undefined
    return {
      title: `Send a test callback of ${name}?`,
      section: 'gateways',
      explanation: html`<p>
        It is signed with your secret, taken, stored and processed like one of the provider: the
        payment may become paid, and your listeners run.
      </p>`,
      fields: html`<label
          >What it says
          <select name="scenario">
            ${scenarios.map((one) => html`<option value="${one.name}">${one.shows}</option>`)}
          </select></label
        >
        <label
          >Payment: its id; blank for the newest that fits
          <input name="payment" maxlength="36" value="${chosen(url, 'payment') ?? ''}"
        /></label>`,
      button: 'Send the callback',
    }
  },
  detail: (form) => ({ scenario: field(form, 'scenario'), payment: field(form, 'payment') }),
  act: async (visit, { form }) => {
    const payment = field(form, 'payment')
    const sent = await toolsOf(visit).send({
      gateway: visit.params['name'] ?? '',
      scenario: field(form, 'scenario'),
      paymentId: payment === '' ? undefined : payment,
    })
    if (sent.callId === undefined) {
      throw new QuittanceError('send_refused', `it was answered ${sent.status}: ${sent.answer}`)
    }
    return { notice: 'callback_sent', to: `/calls/${sent.callId}`, outcome: String(sent.status) }
  },
}
