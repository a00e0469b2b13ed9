import { isDeepStrictEqual } from 'node:util'
import type { Kysely } from 'kysely'
import { findPayment, insertPayment, isWrittenBy, type NewPayment } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import { fieldError, QuittanceError } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { draftPayment, type PaymentCreation } from './draft-payment.ts'
import type { PaymentInput } from './payment-input.ts'
import type { CheckoutPlan } from './plan-checkout.ts'
import { requirePaymentMethod } from './require-payment-method.ts'

/** A payment as it is now, and what has to follow if it is new. */
export interface CreatedPayment {
  readonly payment: Payment
  /** This creation wrote it, so this one must hand it to the provider. */
  readonly isNew: boolean
  readonly plan: CheckoutPlan
}

/**
 * Writes a pending payment, and only once, however often it is retried with the same token. With an
 * id of the caller's, the same content returns the same payment; other content is an error
 * (`payment_exists`). Other errors: `payment_invalid`, `return_url_not_allowed`, `gateway_unknown`,
 * `gateway_not_configured`, `operation_unsupported`, `payment_method_unusable`.
 */
export async function createPayment(
  db: Kysely<Tables>,
  creation: PaymentCreation,
  input: PaymentInput,
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
  const fault = `must be in the future, got ${expiresAt.toISOString()}`
  throw fieldError('payment_invalid', 'expiresAt', fault)
}

/** Before anything is written: the caller must change what the gateway cannot take. */
function requireMoney({ gateway }: RegisteredGateway, draft: NewPayment, plan: CheckoutPlan): void {
  if (plan === 'none') return
  const fault = gateway.moneyFault?.(draft)
  if (fault !== undefined) throw new QuittanceError('payment_invalid', `${gateway.title}: ${fault}`)
}

function repeated(existing: Payment | undefined, draft: NewPayment, input: PaymentInput): Payment {
  if (existing !== undefined && isSameContent(existing, draft, input)) return existing
  throw new QuittanceError(
    'payment_exists',
    `payment ${draft.id} exists already with other content`,
  )
}

/** The field of each constraint that another payment may violate. */
const fieldOf: Readonly<Record<string, string>> = {
  payments_checkout_reference: 'checkoutReference',
  payments_provider_reference: 'providerReference',
}

function explainConflict(error: unknown): never {
  const constraint = error instanceof Error && 'constraint' in error ? String(error.constraint) : ''
  // Where the tables are on several servers, a number follows the name.
  const field = fieldOf[constraint.replace(/_\d+$/, '')]
  if (field === undefined) throw error
  throw fieldError('payment_invalid', field, 'belongs to another payment already')
}

type Content = Payment | NewPayment

/**
 * What must be the same in each field, of the row or of the input, for a call to be a repetition:
 * everything that the caller chose. What was added later (status, the provider's ids, the provider's
 * own expiry) does not count.
 */
const compared: Readonly<
  Record<
    keyof NewPayment | keyof PaymentInput,
    ((content: Content, input: PaymentInput) => unknown) | 'not compared'
  >
> = {
  // The other payment was found by it.
  id: 'not compared',
  type: ({ type }) => type,
  parentId: 'not compared',
  gateway: ({ gateway }) => gateway,
  merchantAccount: ({ merchantAccount }) => merchantAccount,
  live: ({ live }, input) => input.live === undefined || live,
  status: 'not compared',
  amount: ({ amount }) => amount,
  currency: ({ currency }) => currency,
  payable: ({ payable }) => payable,
  description: ({ description }) => description,
  customer: ({ customer }) => customer,
  metadata: ({ metadata }) => metadata,
  returnUrl: ({ returnUrl }) => returnUrl,
  checkoutReference: ({ checkoutReference }, input) =>
    input.checkoutReference === undefined || checkoutReference,
  providerReference: ({ providerReference }, input) =>
    input.providerReference === undefined || providerReference,
  checkout: ({ checkout }) => checkout === 'none',
  checkoutUrl: 'not compared',
  operationError: 'not compared',
  saveCard: ({ saveCard }) => saveCard,
  paymentMethodId: ({ paymentMethodId }) => paymentMethodId,
  periodId: ({ periodId }) => periodId,
  // It is not stored: a payment that exists is not charged again.
  initiatedBy: 'not compared',
  expiresAt: ({ checkout, expiresAt }) => checkout !== 'none' || expiresAt,
  searchedMetadata: 'not compared',
  isHanded: 'not compared',
  firstPollAfter: 'not compared',
}

/** Whether the payment is what this draft would make, so that the call is a repetition. */
function isSameContent(payment: Payment, draft: NewPayment, input: PaymentInput): boolean {
  return Object.values(compared).every(
    (part) =>
      part === 'not compared' || isDeepStrictEqual(part(payment, input), part(draft, input)),
  )
}
