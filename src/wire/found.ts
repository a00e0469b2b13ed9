import { z } from 'zod'
import { paymentStatuses, type Payment } from '../payments/payment.ts'
import { amount, id, time } from './fields.ts'
import { withJson } from '../kernel/with-json.ts'

/** What a row may be found by. */
export const foundBy = [
  'id',
  'provider_reference',
  'checkout_reference',
  'subscription_reference',
  'invoice_number',
  'payable',
  'payable_id',
  'customer_id',
  'email',
  'phone',
  'metadata',
  'amount',
] as const

/** What a row was found by. */
export type FoundBy = (typeof foundBy)[number]

/** What is found besides payments and refunds. */
export const foundKinds = [
  'call',
  'event',
  'subscription',
  'invoice',
  'payment_method',
  'review',
] as const

/** What was found besides a payment or a refund. */
export interface FoundRow {
  readonly kind: (typeof foundKinds)[number]
  readonly id: string
  readonly by: FoundBy
  readonly createdAt: Date
}

/** A payment that was found, or a refund. */
export interface FoundPayment extends Pick<
  Payment,
  | 'id'
  | 'parentId'
  | 'gateway'
  | 'live'
  | 'status'
  | 'amount'
  | 'currency'
  | 'payable'
  | 'createdAt'
> {
  readonly kind: 'payment' | 'refund'
  readonly by: FoundBy
}

/** One of what was found; `by` is the first that fits. */
export type Hit = FoundPayment | FoundRow

/** What was found by a text: the surest first, then the newest. */
export interface Found {
  /** 50 at most, each once. */
  readonly data: readonly Hit[]
  /** There may be more. */
  readonly hasMore: boolean
  toJSON(): FoundJson
}

const foundPaymentSchema = z.strictObject({
  kind: z.enum(['payment', 'refund']),
  id,
  by: z.enum(foundBy),
  created_at: time,
  parent_id: id.nullable(),
  gateway: z.string(),
  live: z.boolean().nullable(),
  status: z.enum(paymentStatuses),
  amount,
  currency: z.string(),
  payable: z.strictObject({ type: z.string(), id: z.string() }),
})

const foundRowSchema = z.strictObject({
  kind: z.enum(foundKinds),
  id,
  by: z.enum(foundBy),
  created_at: time,
})

export const hitSchema = z.union([foundPaymentSchema, foundRowSchema])

export const foundSchema = z.strictObject({ data: z.array(hitSchema), has_more: z.boolean() })

/** The same in JSON. */
export type FoundJson = z.output<typeof foundSchema>

function hitView(hit: Hit): z.output<typeof hitSchema> {
  const { id, by } = hit
  const row = { id, by, created_at: hit.createdAt.toISOString() }
  if (!('amount' in hit)) return { kind: hit.kind, ...row }
  return {
    kind: hit.kind,
    ...row,
    parent_id: hit.parentId,
    gateway: hit.gateway,
    live: hit.live,
    status: hit.status,
    amount: Number(hit.amount),
    currency: hit.currency,
    payable: { type: hit.payable.type, id: hit.payable.id },
  }
}

export function foundView({ data, hasMore }: Omit<Found, 'toJSON'>): FoundJson {
  return { data: data.map(hitView), has_more: hasMore }
}

export function foundOf(found: Omit<Found, 'toJSON'>): Found {
  return withJson({ ...found }, foundView)
}
