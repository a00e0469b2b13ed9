import type { Kysely } from 'kysely'
import { findPayment, insertPayment, type NewPayment } from '../database/payments.ts'
import { findPaymentMethod } from '../database/payment-methods.ts'
import type { Tables } from '../database/tables.ts'
import type { RegisteredGateway, Registry } from '../gateways/registry.ts'
import { minutes } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { isUuid, type NewId } from '../kernel/ids.ts'
import { money } from '../kernel/money.ts'
import type { CheckoutState, Payment } from '../payments/payment.ts'
import { checkDetails, type CreatePaymentInput } from './payment-input.ts'
import {
  checkoutLifetime,
  ownCheckoutUrl,
  planCheckout,
  type Addresses,
  type CheckoutPlan,
} from './plan-checkout.ts'

export interface PaymentCreation {
  readonly gateways: Registry
  readonly newId: NewId
  now(): Date
  readonly addresses: Addresses
  /** Whether a payer may be sent on to this URL. */
  isAllowedReturn(url: string): boolean
}

/** A payment as it is now, and what has to follow for a new one. */
export interface CreatedPayment {
  readonly payment: Payment
  readonly isNew: boolean
  readonly plan: CheckoutPlan
}

/** When a payment is first asked after: most callbacks are there by then. */
const firstPollAfter = minutes(5)

/**
 * Writes a pending payment. With an id of the caller's the same content gives the same payment
 * again; other content is an error (`payment_exists`). Other errors: `payment_invalid`,
 * `return_url_not_allowed`, `gateway_unknown`, `gateway_not_configured`, `operation_unsupported`,
 * `payment_method_unusable`.
 */
export async function createPayment(
  db: Kysely<Tables>,
  creation: PaymentCreation,
  input: CreatePaymentInput,
): Promise<CreatedPayment> {
  const { draft, plan, found } = readInput(creation, input)
  const existing = input.id === undefined ? undefined : await findPayment(db, draft.id)
  if (existing !== undefined) return repeated(existing, draft, { input, plan })
  requireMoney(found, draft, plan)
  if (plan === 'charge') await requirePaymentMethod(db, draft, found)
  const created = await insertPayment(db, draft).catch(explainConflict)
  if (created !== undefined) return { payment: created, isNew: true, plan }
  const rival = await findPayment(db, draft.id)
  return repeated(rival, draft, { input, plan })
}

interface Draft {
  readonly draft: NewPayment
  readonly plan: CheckoutPlan
  readonly found: RegisteredGateway
}

function readInput(creation: PaymentCreation, input: CreatePaymentInput): Draft {
  const found = creation.gateways.find(input.gateway)
  if (found === undefined) {
    throw new QuittanceError(
      'gateway_unknown',
      `gateway ${JSON.stringify(input.gateway)} is not registered`,
    )
  }
  const id = input.id ?? creation.newId()
  if (!isUuid(id)) {
    throw new QuittanceError('payment_invalid', 'id must be a UUID in lower case, with dashes')
  }
  const account = found.gateway.account(found.credentials)
  const plain = {
    id,
    type: 'charge',
    parentId: null,
    gateway: found.gateway.name,
    status: 'pending',
    ...money(input.amount, input.currency),
    ...checkDetails({
      payable: input.payable,
      description: input.description ?? null,
      returnUrl: input.returnUrl ?? null,
      merchantAccount: input.merchantAccount ?? account.merchantAccount,
      checkoutReference: input.checkoutReference ?? null,
      providerReference: input.providerReference ?? null,
      live: input.live ?? account.live,
      customer: input.customer ?? null,
      metadata: input.metadata ?? null,
      saveCard: input.saveCard ?? false,
      paymentMethodId: input.paymentMethodId ?? null,
    }),
    checkoutError: null,
  } as const
  requireAllowedReturn(plain.returnUrl, creation)
  const plan = planCheckout(found, input)
  return {
    plan,
    found,
    draft: { ...plain, ...handedOver({ creation, input, plan, found }, plain) },
  }
}

/** How a checkout begins in each case; what the provider has to be asked for is not known yet. */
const firstState = {
  none: 'none',
  here: 'open',
  api: 'unknown',
  charge: 'unknown',
} as const satisfies Record<CheckoutPlan, CheckoutState>

type Handed = Pick<NewPayment, 'checkout' | 'checkoutUrl' | 'expiresAt' | 'handedAt' | 'nextPollAt'>

/** What is asked after later is marked before anything is sent: a crash loses no payment. */
function handedOver(
  {
    creation,
    input,
    plan,
    found,
  }: {
    readonly creation: PaymentCreation
    readonly input: CreatePaymentInput
    readonly plan: CheckoutPlan
    readonly found: RegisteredGateway
  },
  plain: Omit<NewPayment, keyof Handed>,
): Handed {
  const now = creation.now()
  const later = new Date(now.getTime() + checkoutLifetime)
  const expiresAt = input.expiresAt ?? (plan === 'none' ? null : later)
  const began = plan !== 'none' || input.checkoutReference !== undefined
  const isHanded = began || input.providerReference !== undefined
  const asked = isHanded && found.gateway.poll !== undefined
  const draft = { ...plain, createdAt: now, updatedAt: now, expiresAt, handedAt: now }
  const state = { ...draft, checkout: firstState[plan], checkoutUrl: null }
  return {
    checkout: state.checkout,
    checkoutUrl: plan === 'here' ? ownCheckoutUrl(found.gateway, state, creation.addresses) : null,
    expiresAt,
    handedAt: isHanded ? now : null,
    nextPollAt: asked ? new Date(now.getTime() + firstPollAfter) : null,
  }
}

function requireAllowedReturn(url: string | null, creation: PaymentCreation): void {
  if (url === null || creation.isAllowedReturn(url)) return
  throw new QuittanceError(
    'return_url_not_allowed',
    `return_url: payers may not be sent on to ${new URL(url).origin}`,
  )
}

/** Before anything is written: what the gateway cannot take is the caller's to change. */
function requireMoney({ gateway }: RegisteredGateway, draft: NewPayment, plan: CheckoutPlan): void {
  if (plan === 'none') return
  const fault = gateway.moneyFault?.(draft)
  if (fault !== undefined) throw new QuittanceError('payment_invalid', `${gateway.title}: ${fault}`)
}

async function requirePaymentMethod(
  db: Kysely<Tables>,
  draft: NewPayment,
  { gateway }: RegisteredGateway,
): Promise<void> {
  const { paymentMethodId: id } = draft
  const method = id === null ? undefined : await findPaymentMethod(db, id)
  const unusable = (why: string) =>
    new QuittanceError('payment_method_unusable', `payment_method_id: ${id} ${why}`)
  if (method === undefined) throw unusable('is not known')
  if (method.gateway !== gateway.name) throw unusable(`is of gateway ${method.gateway}`)
  if (method.status !== 'attached') throw unusable('has been removed')
  if (method.merchantAccount !== draft.merchantAccount) throw unusable('is of another account')
  if (gateway.secretFields.length > 0 && !method.hasToken) {
    throw unusable('has no stored token: no encryption key was set when it was saved')
  }
}

function repeated(
  existing: Payment | undefined,
  draft: NewPayment,
  { input, plan }: { readonly input: CreatePaymentInput; readonly plan: CheckoutPlan },
): CreatedPayment {
  if (existing !== undefined && sameContent(existing, draft, input)) {
    return { payment: existing, isNew: false, plan }
  }
  throw new QuittanceError(
    'payment_exists',
    `payment ${draft.id} exists already with other content`,
  )
}

function sameContent(payment: Payment, draft: NewPayment, input: CreatePaymentInput): boolean {
  return contentOf(payment, input) === contentOf(draft, input)
}

/**
 * What the caller chose; what came to it later (status, the provider's ids, its idea of the end)
 * does not count.
 */
function contentOf(payment: Omit<NewPayment, 'nextPollAt'>, input: CreatePaymentInput): string {
  const { gateway, currency, payable, description, returnUrl, customer, metadata } = payment
  const amount = payment.amount.toString()
  return JSON.stringify([
    gateway,
    amount,
    currency,
    payable.type,
    payable.id,
    description,
    returnUrl,
    customer,
    metadata,
    payment.merchantAccount,
    input.live === undefined ? null : payment.live,
    payment.checkout === 'none' ? payment.expiresAt?.toISOString() : null,
    payment.checkout === 'none',
    payment.saveCard,
    payment.paymentMethodId,
  ])
}

function explainConflict(error: unknown): never {
  const constraint = error instanceof Error && 'constraint' in error ? String(error.constraint) : ''
  if (constraint.startsWith('payments_') && constraint.endsWith('_reference')) {
    throw new QuittanceError(
      'payment_invalid',
      'checkout_reference or provider_reference belongs to another payment already',
      { cause: error },
    )
  }
  throw error
}
