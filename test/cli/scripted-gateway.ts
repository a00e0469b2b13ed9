import type { Gateway } from '../../src/gateways/gateway.ts'
import type { PollReply, RefundReply } from '../../src/gateways/operations.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { ignored } from '../../src/payments/outcome.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { stating } from '../support/stating-gateway.ts'

/** What the provider does with a request; `ok` if the payment says nothing of it. */
export type Turn = 'ok' | 'refuse' | 'lose' | 'garble'

/** What the `metadata` of a payment for this gateway may say. */
export interface Script {
  readonly checkout?: Turn
  readonly charge?: Turn | 'decline'
  readonly poll?: Turn | 'paid' | 'unclear'
  readonly refund?: Turn | 'fail'
  readonly close?: Turn
}

/**
 * A gateway whose provider does what the metadata of the payment says. Its callbacks state
 * outcomes, as those of the stating gateway do.
 */
export const scripted: Gateway = {
  ...stating,
  name: 'scripted',
  title: 'Scripted gateway',
  secretFields: [],
  credentials: {
    ...stating.credentials,
    api_key: {
      env: ['SCRIPTED_API_KEY'],
      secret: true,
      required: false,
      description: 'For requests.',
    },
  },
  apiCredential: 'api_key',
  partialRefund: true,
  checkout: {
    kind: 'api',
    open: async ({ payment }) => {
      take(scriptOf(payment).checkout)
      return {
        url: `https://checkout.example/${payment.id}`,
        checkoutReference: `co_${payment.id}`,
      }
    },
  },
  chargeSavedCard: async ({ payment, initiatedBy }) => {
    const { charge } = scriptOf(payment)
    if (charge !== 'decline') take(charge)
    const status = charge === 'decline' ? 'failed' : 'paid'
    return {
      outcomes: [{ type: 'payment', status, ...about(payment) }],
      providerReference: `ch_${initiatedBy}_${payment.id}`,
    }
  },
  poll: async ({ payment }): Promise<PollReply> => {
    const { poll } = scriptOf(payment)
    if (poll === 'unclear') {
      const outcomes = [ignored('no_outcome', 'a new word')]
      return { outcomes, standing: 'unclear', listsRefunds: false }
    }
    if (poll !== 'paid') take(poll)
    const isPaid = poll === 'paid'
    return {
      outcomes: isPaid
        ? [{ type: 'payment', status: 'paid', ...about(payment) }]
        : [ignored('no_outcome', 'scripted')],
      standing: isPaid ? 'paid' : 'open',
      listsRefunds: false,
    }
  },
  refund: async ({ payment, refund }): Promise<RefundReply> => {
    const turn = scriptOf(payment).refund
    if (turn === 'fail') return { status: 'failed', code: 'no_funds' }
    take(turn)
    return { status: 'paid', reference: `re_${refund.id}` }
  },
  closeCheckout: async ({ payment }) => {
    take(scriptOf(payment).close)
    return 'closed'
  },
}

function scriptOf({ metadata }: Payment): Script {
  return metadata ?? {}
}

function about({ id, amount, currency }: Payment) {
  return { payment: { id }, amount, currency } as const
}

function take(turn: Turn = 'ok'): void {
  const { title } = scripted
  if (turn === 'refuse') {
    const code = { providerCode: 'card_declined' }
    throw new QuittanceError('provider_refused', `${title} says no: card_declined`, code)
  }
  if (turn === 'lose') throw new QuittanceError('provider_unreachable', `${title} does not answer`)
  if (turn === 'garble') {
    throw new QuittanceError('provider_reply_invalid', `${title} answers with noise`)
  }
}
