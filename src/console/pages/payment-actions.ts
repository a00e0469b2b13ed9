import { html } from 'hono/html'
import { amountText, moneyText, parseMajorUnits } from '../../kernel/money.ts'
import { fieldError } from '../../kernel/errors.ts'
import { isUuid } from '../../kernel/uuid.ts'
import type { PaymentDetails } from '../../wire/payment-details.ts'
import type { Action } from '../action.ts'
import type { Visit } from '../context.ts'
import { shown } from '../parts/shown.ts'

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
          ${payment.gateway} is asked how the payment of ${moneyText(payment)} stands, and its
          answer is applied like a callback: the payment may become paid, and your listeners may
          run.
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
          The checkout of ${moneyText(payment)} is closed, at ${payment.gateway} too if it can. If
          the payer has just paid all the same, the payment becomes paid, and needs a person.
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
        Of ${moneyText(payment)}, ${moneyText(left)} can go back. ${payment.gateway} is asked for it
        at once. It cannot be taken back.
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
