import { z } from 'zod'
import { paymentMethodStatuses, type PaymentMethod } from '../payments/payment-method.ts'
import { id, time } from './fields.ts'

/** A saved card; never its token. */
export const paymentMethodSchema = z.strictObject({
  id,
  gateway: z.string(),
  merchant_account: z.string().nullable(),
  live: z.boolean().nullable(),
  status: z.enum(paymentMethodStatuses),
  provider_reference: z.string(),
  customer_reference: z.string().nullable(),
  payment_id: id.nullable(),
  kind: z.string().nullable(),
  brand: z.string().nullable(),
  last_four: z.string().nullable(),
  expiry_month: z.int().nullable(),
  expiry_year: z.int().nullable(),
  has_token: z.boolean(),
  created_at: time,
  updated_at: time,
})

export function paymentMethodView({
  details,
  ...method
}: PaymentMethod): z.output<typeof paymentMethodSchema> {
  return {
    id: method.id,
    gateway: method.gateway,
    merchant_account: method.merchantAccount,
    live: method.live,
    status: method.status,
    provider_reference: method.providerReference,
    customer_reference: method.customerReference,
    payment_id: method.paymentId,
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
