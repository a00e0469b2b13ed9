import type {
  CallDetails,
  GatewayDescription,
  PaymentDetails,
  PollResult,
} from '../billing/types.ts'
import type { WebhookCall } from '../database/calls.ts'
import type { DeferredEvent } from '../database/deferred-events.ts'
import type { EventRecord } from '../database/events.ts'
import type { Page } from '../database/page.ts'
import type { PaymentTransition } from '../database/payments.ts'
import type { Dispute } from '../payments/dispute.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import type { Payment } from '../payments/payment.ts'

/**
 * How things look as JSON, in the management API and in the commands' `--json`: names in
 * snake_case, times in ISO 8601 UTC, amounts as whole numbers of minor units.
 */
export function paymentView(payment: Payment) {
  return {
    id: payment.id,
    type: payment.type,
    parent_id: payment.parentId,
    gateway: payment.gateway,
    merchant_account: payment.merchantAccount,
    live: payment.live,
    status: payment.status,
    // Exact: no amount above Number.MAX_SAFE_INTEGER is ever accepted.
    amount: Number(payment.amount),
    currency: payment.currency,
    payable: { type: payment.payable.type, id: payment.payable.id },
    description: payment.description,
    customer: payment.customer,
    metadata: payment.metadata,
    return_url: payment.returnUrl,
    checkout_reference: payment.checkoutReference,
    provider_reference: payment.providerReference,
    checkout: payment.checkout,
    checkout_url: payment.checkoutUrl,
    /** Of a refund: what the provider answered to it. */
    operation_error: payment.operationError,
    poll_error: payment.pollError,
    save_card: payment.saveCard,
    payment_method_id: payment.paymentMethodId,
    handed_at: payment.handedAt?.toISOString() ?? null,
    expires_at: payment.expiresAt?.toISOString() ?? null,
    created_at: payment.createdAt.toISOString(),
    updated_at: payment.updatedAt.toISOString(),
  }
}

export function paymentDetailsView(payment: PaymentDetails) {
  return {
    ...paymentView(payment),
    transitions: payment.transitions.map(transitionView),
    events: payment.events.map(eventView),
    deferred_events: payment.deferredEvents.map(deferredEventView),
    refunds: payment.refunds.map(paymentView),
    disputes: payment.disputes.map(disputeView),
    payment_methods: payment.paymentMethods.map(paymentMethodView),
  }
}

/** The result of a poll. */
export function pollView({ payment, standing, results }: PollResult) {
  return { payment: paymentView(payment), standing, results }
}

function disputeView(dispute: Dispute) {
  return {
    id: dispute.id,
    provider_reference: dispute.providerReference,
    status: dispute.status,
    amount: dispute.amount === null ? null : Number(dispute.amount),
    currency: dispute.currency,
    created_at: dispute.createdAt.toISOString(),
    updated_at: dispute.updatedAt.toISOString(),
  }
}

function paymentMethodView({ details, ...method }: PaymentMethod) {
  return {
    id: method.id,
    status: method.status,
    provider_reference: method.providerReference,
    customer_reference: method.customerReference,
    kind: details.kind ?? null,
    brand: details.brand ?? null,
    last_four: details.lastFour ?? null,
    expiry_month: details.expiryMonth ?? null,
    expiry_year: details.expiryYear ?? null,
    has_token: method.hasToken,
    created_at: method.createdAt.toISOString(),
    updated_at: method.updatedAt.toISOString(),
  }
}

function transitionView(transition: PaymentTransition) {
  return {
    from: transition.from,
    to: transition.to,
    cause: transition.cause,
    webhook_call_id: transition.webhookCallId,
    at: transition.at.toISOString(),
  }
}

export function callView(call: WebhookCall) {
  return {
    id: call.id,
    gateway: call.gateway,
    queue: call.queue,
    url: call.url,
    state: call.state,
    attempts: call.attempts,
    leases_lost: call.leasesLost,
    outcome: call.outcome,
    needs_review: call.needsReview,
    payment_id: call.paymentId,
    dedup_claims: call.dedupClaims,
    received_at: call.receivedAt.toISOString(),
    processed_at: call.processedAt?.toISOString() ?? null,
    next_attempt_at: isWaiting(call) ? call.nextAttemptAt.toISOString() : null,
  }
}

function isWaiting(call: WebhookCall): boolean {
  return call.state === 'pending' || call.state === 'processing'
}

export function callDetailsView(call: CallDetails) {
  return {
    ...callView(call),
    headers: call.headers,
    kind: call.kind,
    payload: call.payload === null ? null : displayJson(call.payload),
    /**
     * Only if `payload` does not carry the bytes that were signed, and not if they are encrypted.
     */
    body_base64: call.body === null ? null : Buffer.from(call.body).toString('base64'),
    body_encrypted: call.bodyEncrypted,
    exception: call.exception,
    deferred_events: call.deferredEvents.map(deferredEventView),
  }
}

export function eventView(event: EventRecord) {
  return {
    ...headOf(event),
    superseded: event.superseded,
    data: event.data,
    created_at: event.createdAt.toISOString(),
    deliveries: event.deliveries,
  }
}

function deferredEventView(event: DeferredEvent) {
  return {
    ...headOf(event),
    state: event.state,
    attempts: event.attempts,
    next_attempt_at: event.nextAttemptAt?.toISOString() ?? null,
    exception: event.exception,
    created_at: event.createdAt.toISOString(),
  }
}

/** What an event and a deferred one have in common. */
function headOf(event: EventRecord | DeferredEvent) {
  return {
    id: event.id,
    dedup_key: event.dedupKey,
    type: event.type,
    payment_id: event.paymentId,
    payment_method_id: event.paymentMethodId,
    webhook_call_id: event.webhookCallId,
    source: event.source,
  }
}

export function gatewayView(gateway: GatewayDescription) {
  const { capabilities } = gateway
  return {
    name: gateway.name,
    title: gateway.title,
    aliases: gateway.aliases,
    scheme: gateway.scheme,
    webhook_url: gateway.webhook_url,
    webhook_requires_dashboard_setup: gateway.webhook_requires_dashboard_setup,
    callback_url_field: gateway.callbackUrlField,
    configured: gateway.configured,
    capabilities: {
      checkout: capabilities.checkout,
      refund: capabilities.refund,
      partial_refund: capabilities.partialRefund,
      poll: capabilities.poll,
      register_webhook: capabilities.registerWebhook,
      saved_cards: capabilities.savedCards,
    },
  }
}

export function pageView<T, V>(page: Page<T>, view: (row: T) => V) {
  return { data: page.data.map((row) => view(row)), next_cursor: page.nextCursor }
}

interface SourceTextAccess {
  parse(
    text: string,
    reviver: (key: string, value: unknown, at: { source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}

// In the language since ES2026 and in every Node that we run on, ahead of TypeScript's library.
const exactJson = JSON as unknown as SourceTextAccess

/**
 * A stored JSON text as a value to show. A number that a double would change (`10.50`, `1e400`)
 * keeps its spelling when the value is written as JSON again; what cannot be read stays text.
 */
export function displayJson(text: string): unknown {
  try {
    return exactJson.parse(text, (_key, value, { source }) =>
      typeof value === 'number' && source !== undefined && source !== String(value)
        ? exactJson.rawJSON(source)
        : value,
    )
  } catch {
    return text
  }
}
