import type { BillingCore } from '../../billing/types.ts'
import type { Html } from '../../http/pages/layout.ts'
import type { CallState } from '../../events/webhook-call.ts'
import type { PaymentStatus } from '../../payments/payment.ts'
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

const paymentTones: Readonly<Record<PaymentStatus, Tone>> = {
  pending: 'warn',
  paid: 'good',
  failed: 'bad',
  canceled: 'plain',
}

export function paymentBadge(status: PaymentStatus): Html {
  return badge(status, paymentTones[status])
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
