import assert from 'node:assert/strict'
import type { OperationContext } from '../../src/gateways/interpret-context.ts'
import type { ChargeRequest, CheckoutRequest } from '../../src/gateways/operations.ts'
import type { Payment } from '../../src/payments/payment.ts'
import {
  chargeFor,
  checkoutFor,
  contextFor,
  hour,
  methodOf,
  paymentAt,
  refundFor,
} from '../providers/kit.ts'
import type { Asking, ProviderStandIn } from '../providers/provider-stand-in.ts'
import { gatewayOf } from '../spec/callbacks.ts'

// What the tests of operations ask each provider for.

export type Changing = Extract<Asking, 'checkout' | 'refund' | 'charge' | 'close' | 'remove'>

export const now = new Date()

/** The stand-ins go by the clock. */
export const contextOf = (
  { gateway, config }: Pick<ProviderStandIn, 'gateway' | 'config'>,
  changes: Partial<OperationContext> = {},
) => contextFor(gateway, config, { now, ...changes })
const requestFor = (payment: Payment, fields: Partial<CheckoutRequest> = {}) =>
  checkoutFor(payment, { expiresAt: new Date(now.getTime() + hour), ...fields })

const chargedId = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e33'

export interface Prepared {
  readonly ask: (context: OperationContext) => Promise<unknown>
  /** How often the provider has done it; undefined where nothing counts that. */
  readonly done?: () => number
  /** Whether a poll finds it, once it is done. */
  readonly found?: () => Promise<boolean>
}

/** A provider, and a payment there as far as the operation needs it. */
export async function opened(provider: ProviderStandIn, saveCard = false): Promise<Payment> {
  const { gateway } = provider
  const payment = paymentAt(provider, { saveCard })
  const request = requestFor(payment, { saveCard })
  const context = contextOf(provider)
  const { checkout } = gateway
  if (checkout?.kind === 'api') {
    const { checkoutReference = null, providerReference = null } = await checkout.open(
      request,
      context,
    )
    return { ...payment, checkoutReference, providerReference }
  }
  assert.ok(checkout?.kind === 'form')
  const { action, fields } = checkout.form(request, context.credentials)
  await fetch(action, { method: 'POST', body: new URLSearchParams(fields) })
  return payment
}

export async function paid(provider: ProviderStandIn, saveCard = false): Promise<Payment> {
  const payment = await opened(provider, saveCard)
  provider.pay(payment.id)
  const reported = (await outcomesOf(provider, payment)).find(({ type }) => type === 'payment')
  assert.ok(reported?.type === 'payment')
  const { providerReference = payment.providerReference } = reported
  return { ...payment, status: 'paid', providerReference }
}

function outcomesOf(provider: ProviderStandIn, { id }: Payment) {
  const { gateway } = provider
  const { headers, body } = provider.paymentCallback(id)
  const payload = gateway.parse({ headers, body: Buffer.from(body) })
  return gateway.interpret(payload, contextOf(provider))
}

async function cardOf(provider: ProviderStandIn): Promise<Pick<ChargeRequest, 'method' | 'token'>> {
  const payment = await paid(provider, true)
  const saved = (await outcomesOf(provider, payment)).find(({ type }) => type === 'payment_method')
  assert.ok(saved?.type === 'payment_method')
  const { merchantAccount, live } = payment
  const { reference, customerReference = null, token = null } = saved
  const known = { merchantAccount, live, customerReference, providerReference: reference }
  return { method: methodOf(provider.gateway.name, known), token }
}

export const operations: Readonly<
  Record<Changing, (provider: ProviderStandIn) => Promise<Prepared>>
> = {
  checkout: async (provider) => {
    const { checkout } = provider.gateway
    assert.ok(checkout?.kind === 'api')
    const request = requestFor(paymentAt(provider))
    return {
      ask: (context) => checkout.open(request, context),
      done: () => provider.checkouts(request.payment.id),
    }
  },
  refund: async (provider) => {
    const { refund } = provider.gateway
    assert.ok(refund)
    const payment = await paid(provider)
    return {
      ask: async (context) => refund(refundFor(payment, 100n), context),
      done: () => provider.refunds(payment.id).length,
    }
  },
  charge: async (provider) => {
    const { chargeSavedCard } = provider.gateway
    assert.ok(chargeSavedCard)
    const card = await cardOf(provider)
    const payment = paymentAt(provider, { id: chargedId })
    const charged = { ...payment, paymentMethodId: card.method.id }
    return {
      ask: async (context) => chargeSavedCard(chargeFor(payment, card), context),
      done: () => provider.charges(chargedId),
      found: async () => (await pollOf(provider, charged))?.standing === 'paid',
    }
  },
  remove: async (provider) => {
    const { chargeSavedCard, name, removeSavedCard } = provider.gateway
    assert.ok(removeSavedCard)
    const ids = { customerReference: 'ctm_1', providerReference: 'paymtd_1' }
    const card = chargeSavedCard
      ? await cardOf(provider)
      : { method: methodOf(name, ids), token: null }
    return { ask: async (context) => removeSavedCard(card, context) }
  },
  close: async (provider) => {
    const { closeCheckout } = provider.gateway
    assert.ok(closeCheckout)
    const payment = await opened(provider)
    const request = { payment, handedAt: now }
    return { ask: async (context) => closeCheckout(request, context) }
  },
}

/** Whether the gateway has the operation; a form is sent by the payer's browser. */
export function isIn(name: string): (operation: Changing) => boolean {
  const { checkout, refund, chargeSavedCard, closeCheckout, removeSavedCard } = gatewayOf(name)
  const found = {
    checkout: checkout?.kind === 'api',
    refund: refund !== undefined,
    charge: chargeSavedCard !== undefined,
    close: closeCheckout !== undefined,
    remove: removeSavedCard !== undefined,
  }
  return (operation) => found[operation]
}

export function pollOf(
  provider: ProviderStandIn,
  payment: Payment,
  context: OperationContext = contextOf(provider),
) {
  return provider.gateway.poll?.({ payment, handedAt: now }, context)
}

/** The same of several; undefined where the gateway has no means for it. */
export function togetherOf(
  { gateway: { pollTogether } }: ProviderStandIn,
  payments: readonly Payment[],
  context: OperationContext,
) {
  const requests = payments.map((payment) => ({ payment, handedAt: now }))
  return pollTogether?.ask(requests, context)
}

export function countOf({ asked }: ProviderStandIn, operation: Changing): number {
  return asked.filter(({ asking }) => asking === operation).length
}
