import { QuittanceError } from '../../../kernel/errors.ts'
import { findScenario } from '../../find-scenario.ts'
import type { Scenario } from '../../scenario.ts'
import type { Signer, SignInput } from '../../gateway.ts'
import { majorUnits, paymentIdFrom, sampleCallback, type SampleChange } from './callback.ts'
import { keyVariables } from '../api.ts'
import { signData } from '../signed-data.ts'

interface Sample extends Scenario {
  readonly change: (input: SignInput) => SampleChange
}

const scenarios: ReadonlyMap<string, Sample> = new Map<string, Sample>([
  ['paid', { shows: 'the order is paid by card', means: ['payment:paid'], change: () => ({}) }],
  [
    'declined',
    {
      shows: 'the bank refused the card; the same order may still be paid',
      means: ['payment:failed'],
      change: () => ({
        status: 'failure',
        more: { err_code: 'limit', err_description: 'Перевищено ліміт', code: 'limit' },
      }),
    },
  ],
  [
    'canceled',
    {
      shows: 'money that was blocked on the card is released without a charge',
      means: ['payment:canceled'],
      change: () => ({ action: 'hold', status: 'reversed' }),
    },
  ],
  [
    'pending',
    {
      shows: 'the money is taken, but LiqPay has not activated the shop yet',
      means: ['ignored:no_outcome'],
      change: () => ({ status: 'wait_accept' }),
    },
  ],
  [
    'refunded',
    {
      shows: 'all the money went back',
      means: ['payment:paid', 'refund:paid'],
      change: (input) => refunded(input, 'all'),
    },
  ],
  [
    'refunded_half',
    {
      shows: 'half of the money went back',
      means: ['payment:paid', 'refund:paid half'],
      change: (input) => refunded(input, 'half'),
    },
  ],
  [
    'refunded_rest',
    {
      shows: 'the other half went back as well',
      means: ['payment:paid', 'refund:paid'],
      change: (input) => refunded(input, 'all'),
    },
  ],
  [
    'card_saved',
    {
      shows: 'the order is paid, and the card may be charged again',
      means: ['payment:paid', 'payment_method:attached'],
      change: ({ payment }) => ({ more: { card_token: cardToken(payment.id) } }),
    },
  ],
  [
    'subscribed',
    {
      shows: 'a subscription is made, and its card saved',
      means: ['ignored:unhandled_event', 'payment_method:attached'],
      change: ({ payment }) => ({
        action: 'subscribe',
        status: 'subscribed',
        more: { card_token: cardToken(payment.id) },
      }),
    },
  ],
  [
    'renewed',
    {
      shows: 'LiqPay charged the subscription that the order began',
      means: ['payment:paid'],
      change: ({ newId }) => ({ action: 'regular', paymentId: paymentIdFrom(newId()) }),
    },
  ],
])

function refunded({ payment, now }: SignInput, share: 'all' | 'half'): SampleChange {
  const amount = share === 'all' ? payment.amount : payment.amount / 2n
  return {
    status: 'reversed',
    more: {
      refund_amount: { decimal: majorUnits(amount, payment.currency) },
      refund_date_last: now.getTime(),
    },
  }
}

function cardToken(paymentId: string): string {
  return `SAMPLE${paymentId.replaceAll('-', '').toUpperCase()}`
}

/** Makes callbacks as LiqPay words and signs them. Errors: `gateway_not_configured`, `usage`. */
export const liqpaySigner: Signer = {
  scenarios: Object.fromEntries(scenarios),
  sign(input) {
    const scenario = findScenario('liqpay', scenarios, input.scenario)
    const [privateKey] = input.credentials.secrets.private_key ?? []
    if (!input.credentials.configured || privateKey === undefined) {
      throw new QuittanceError(
        'gateway_not_configured',
        `a callback of LiqPay cannot be signed without ${keyVariables(input.credentials)}`,
      )
    }
    return {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(
        signData(privateKey, sampleCallback(input, scenario.change(input))),
      ).toString(),
    }
  },
}
