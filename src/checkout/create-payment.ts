import type { Kysely } from 'kysely'
import { findPaymentMethod } from '../database/payment-methods.ts'
import { findPayment, insertPayment, isWrittenBy, type NewPayment } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { draftPayment, type PaymentCreation } from './draft-payment.ts'
import type { CreatePaymentInput } from './payment-input.ts'
import type { CheckoutPlan } from './plan-checkout.ts'

/** A payment as it is now, and what has to follow for a new one. */
export interface CreatedPayment {
  readonly payment: Payment
  /** This creation wrote it, so it is for this one to hand it to the provider. */
  readonly isNew: boolean
  readonly plan: CheckoutPlan
}

/**
 * Writes a pending payment; once, however often it is tried with the same token. With an id of the
 * caller's the same content gives the same payment again; other content is an error
 * (`payment_exists`). Other errors: `payment_invalid`, `return_url_not_allowed`, `gateway_unknown`,
 * `gateway_not_configured`, `operation_unsupported`, `payment_method_unusable`.
 */
export async function createPayment(
  db: Kysely<Tables>,
  creation: PaymentCreation,
  input: CreatePaymentInput,
): Promise<CreatedPayment> {
  const { draft, plan, found } = draftPayment(creation, input)
  const existing = input.id === undefined ? undefined : await findPayment(db, draft.id)
  if (existing === undefined) {
    requireLater(draft.expiresAt, creation.now())
    requireMoney(found, draft, plan)
    if (plan === 'charge') await requirePaymentMethod(db, draft, found)
    const created = await insertPayment(db, draft, creation.token).catch(explainConflict)
    if (created !== undefined) return { payment: created, isNew: true, plan }
  }
  const known = existing ?? (await findPayment(db, draft.id))
  const payment = repeated(known, draft, input)
  return { payment, isNew: await isWrittenBy(db, payment.id, creation.token), plan }
}

function requireLater(expiresAt: Date | null, now: Date): void {
  if (expiresAt === null || expiresAt > now) return
  const text = `expires_at must be in the future, got ${expiresAt.toISOString()}`
  throw new QuittanceError('payment_invalid', text)
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
  input: CreatePaymentInput,
): Payment {
  if (existing !== undefined && sameContent(existing, draft, input)) return existing
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
function contentOf(payment: Payment | NewPayment, input: CreatePaymentInput): string {
  const { type, gateway, currency, payable, description, returnUrl, customer, metadata } = payment
  const amount = payment.amount.toString()
  return JSON.stringify([
    type,
    gateway,
    amount,
    currency,
    payable.type,
    payable.id,
    description,
    returnUrl,
    sorted(customer),
    sorted(metadata),
    input.checkoutReference === undefined ? null : payment.checkoutReference,
    input.providerReference === undefined ? null : payment.providerReference,
    payment.merchantAccount,
    input.live === undefined ? null : payment.live,
    payment.checkout === 'none' ? payment.expiresAt?.toISOString() : null,
    payment.checkout === 'none',
    payment.saveCard,
    payment.paymentMethodId,
  ])
}

/** The same object in another order of its keys is the same. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return members.map(([key, member]) => [key, sorted(member)])
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
