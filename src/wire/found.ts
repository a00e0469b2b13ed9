import { z } from 'zod'
import * as field from '../kernel/noun.ts'
import { viewOf } from '../kernel/noun.ts'
import { withJson } from '../kernel/with-json.ts'
import { paymentFields, type Payment } from '../payments/payment.ts'
import { schemaOf } from './noun.ts'

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

const { id, createdAt, parentId, gateway, live, status, amount, currency, payable } = paymentFields
const paymentFound = { parentId, gateway, live, status, amount, currency, payable }

/** A payment that was found, or a refund. */
export interface FoundPayment extends Pick<
  Payment,
  'id' | 'createdAt' | keyof typeof paymentFound
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

const by = field.choice(foundBy)
const foundPayment = {
  kind: field.choice(['payment', 'refund']),
  id,
  by,
  createdAt,
  ...paymentFound,
}
const foundRow = { kind: field.choice(foundKinds), id, by, createdAt }
const [paymentView, rowView] = [viewOf(foundPayment), viewOf(foundRow)]

export const hitSchema = z.union([schemaOf(foundPayment), schemaOf(foundRow)])

export const foundSchema = z.strictObject({ data: z.array(hitSchema), has_more: z.boolean() })

/** The same in JSON. */
export type FoundJson = z.output<typeof foundSchema>

function hitView(hit: Hit): z.output<typeof hitSchema> {
  return 'amount' in hit ? paymentView(hit) : rowView(hit)
}

export function foundView({ data, hasMore }: Omit<Found, 'toJSON'>): FoundJson {
  return { data: data.map(hitView), has_more: hasMore }
}

export function foundOf(found: Omit<Found, 'toJSON'>): Found {
  return withJson({ ...found }, foundView)
}
