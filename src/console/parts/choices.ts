import type { BillingCore } from '../../billing/types.ts'
import type { Html } from '../../http/pages/layout.ts'
import type { CallState } from '../../events/webhook-call.ts'
import { standingText, type PaymentStanding, type StandingState } from '../../payments/standing.ts'
import type { Filter } from './filters.ts'
import { badge, type Tone } from './values.ts'

export function gatewayChoice(core: BillingCore): Filter {
  const names = Object.keys(core.gateways())
  return {
    kind: 'choice',
    name: 'gateway',
    label: 'Gateway',
    options: names.map((one) => [one, one]),
  }
}

const paymentTones: Readonly<Record<StandingState, Tone>> = {
  pending: 'warn',
  paid: 'good',
  failed: 'bad',
  canceled: 'plain',
  partly_refunded: 'warn',
  refunded: 'plain',
  disputed: 'bad',
}

export function paymentBadge(standing: PaymentStanding): Html {
  return badge(standingText(standing), paymentTones[standing.state])
}

const callTones: Readonly<Record<CallState, Tone>> = {
  pending: 'warn',
  processing: 'warn',
  processed: 'good',
  ignored: 'plain',
  failed: 'bad',
}

export function callBadge(state: CallState): Html {
  return badge(state, callTones[state])
}
