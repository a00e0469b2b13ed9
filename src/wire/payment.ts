import { z } from 'zod'
import { checkoutStates, paymentStatuses, paymentTypes } from '../payments/payment.ts'
import type { Payment } from '../payments/payment.ts'
import { amount, id, time } from './fields.ts'
import { withJson } from '../kernel/with-json.ts'

const anyObject = z.record(z.string(), z.unknown())

/** A payment, or a refund of one. */
export const paymentSchema = z.strictObject({
  id,
  type: z.enum(paymentTypes),
  parent_id: id.nullable(),
  gateway: z.string(),
  merchant_account: z.string().nullable(),
  live: z.boolean().nullable(),
  status: z.enum(paymentStatuses),
  amount,
  currency: z.string(),
  payable: z.strictObject({ type: z.string(), id: z.string() }),
  description: z.string().nullable(),
  customer: anyObject.nullable(),
  metadata: anyObject.nullable(),
  return_url: z.string().nullable(),
  checkout_reference: z.string().nullable(),
  provider_reference: z.string().nullable(),
  checkout: z.enum(checkoutStates),
  checkout_url: z.string().nullable(),
  operation_error: z.string().nullable(),
  decline_code: z.string().nullable(),
  poll_error: z.string().nullable(),
  save_card: z.boolean(),
  payment_method_id: id.nullable(),
  period_id: id.nullable(),
  handed_at: time.nullable(),
  expires_at: time.nullable(),
  created_at: time,
  updated_at: time,
})

export function paymentView(payment: Payment): z.output<typeof paymentSchema> {
  return {
    id: payment.id,
    type: payment.type,
    parent_id: payment.parentId,
    gateway: payment.gateway,
    merchant_account: payment.merchantAccount,
    live: payment.live,
    status: payment.status,
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
    operation_error: payment.operationError,
    decline_code: payment.declineCode,
    poll_error: payment.pollError,
    save_card: payment.saveCard,
    payment_method_id: payment.paymentMethodId,
    period_id: payment.periodId,
    handed_at: payment.handedAt?.toISOString() ?? null,
    expires_at: payment.expiresAt?.toISOString() ?? null,
    created_at: payment.createdAt.toISOString(),
    updated_at: payment.updatedAt.toISOString(),
  }
}

/** A payment from its data: a copy has no `toJSON`. */
export function paymentOf(data: Omit<Payment, 'toJSON'>): Payment {
  return withJson(data, paymentView)
}
