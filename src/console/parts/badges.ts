import type { DeliveryState } from '../../events/event-record.ts'
import type { Endpoint, ForwardState } from '../../events/endpoint.ts'
import type { Html } from '../../http/pages/layout.ts'
import type { InvoiceStatus } from '../../invoices/invoice.ts'
import type { PeriodState } from '../../subscriptions/period.ts'
import type { SubscriptionStatus } from '../../subscriptions/subscription.ts'
import { badge, type Tone } from './values.ts'

const subscriptionTones: Readonly<Record<SubscriptionStatus, Tone>> = {
  incomplete: 'warn',
  trialing: 'good',
  active: 'good',
  past_due: 'bad',
  paused: 'warn',
  canceled: 'plain',
}

export function subscriptionBadge(status: SubscriptionStatus): Html {
  return badge(status.replaceAll('_', ' '), subscriptionTones[status])
}

const periodTones: Readonly<Record<PeriodState, Tone>> = {
  open: 'warn',
  paid: 'good',
  void: 'plain',
  free: 'plain',
}

export function periodBadge(state: PeriodState): Html {
  return badge(state, periodTones[state])
}

const invoiceTones: Readonly<Record<InvoiceStatus, Tone>> = {
  issued: 'warn',
  paid: 'good',
  void: 'plain',
}

export function invoiceBadge(status: InvoiceStatus): Html {
  return badge(status, invoiceTones[status])
}

const deliveryTones: Readonly<Record<DeliveryState, Tone>> = {
  pending: 'warn',
  processing: 'warn',
  processed: 'good',
  failed: 'bad',
}

export function deliveryBadge(state: DeliveryState): Html {
  return badge(state, deliveryTones[state])
}

const forwardTones: Readonly<Record<ForwardState, Tone>> = {
  pending: 'warn',
  delivered: 'good',
  failed: 'bad',
}

export function forwardBadge(state: ForwardState): Html {
  return badge(state, forwardTones[state])
}

/** From so many failures in a row on, only probes are sent. */
const fewProbes = 5

export function endpointBadge({ enabled, failures }: Endpoint): Html {
  if (!enabled) return badge('disabled', 'plain')
  if (failures >= fewProbes) return badge('failing', 'bad')
  return failures > 0 ? badge('retrying', 'warn') : badge('enabled', 'good')
}
