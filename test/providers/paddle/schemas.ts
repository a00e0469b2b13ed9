import { z } from 'zod'

const currency = z.enum(['USD', 'EUR', 'GBP', 'UAH', 'JPY', 'PLN'])
const digits = z.string().regex(/^(?:0|[1-9]\d*)$/)

const cycle = z.strictObject({
  interval: z.enum(['day', 'week', 'month', 'year']),
  frequency: z.int().min(1),
})

const price = z.strictObject({
  description: z.string().min(2).max(500),
  unit_price: z.strictObject({ amount: digits, currency_code: currency }),
  // With any other, tax may come on top.
  tax_mode: z.literal('internal'),
  quantity: z.strictObject({ minimum: z.literal(1), maximum: z.literal(1) }),
  billing_cycle: cycle.optional(),
  trial_period: cycle.optional(),
  product: z.strictObject({
    name: z.string().min(1).max(200),
    tax_category: z.literal('standard'),
  }),
})

/** https://developer.paddle.com/api-reference/transactions/create-transaction, and our own rules. */
export const newTransaction = z
  .strictObject({
    items: z.tuple([z.strictObject({ quantity: z.literal(1), price })]),
    currency_code: currency,
    collection_mode: z.literal('automatic'),
    custom_data: z.strictObject({ payment_id: z.uuid() }),
    checkout: z.strictObject({ url: z.url({ protocol: /^https?$/ }) }).optional(),
  })
  .refine((body) => body.items[0].price.unit_price.currency_code === body.currency_code, {
    error: 'two currencies',
  })
  .refine(({ items: [{ price }] }) => price.billing_cycle !== undefined || !price.trial_period, {
    error: 'a trial of nothing that is charged again',
  })
export type NewTransaction = z.infer<typeof newTransaction>

const effectiveFrom = z.enum(['next_billing_period', 'immediately'])
const onResume = z.enum(['continue_existing_billing_period', 'start_new_billing_period'])

/** https://developer.paddle.com/api-reference/subscriptions/cancel-subscription */
export const cancelWish = z.strictObject({ effective_from: effectiveFrom })
export type CancelWish = z.infer<typeof cancelWish>

/** https://developer.paddle.com/api-reference/subscriptions/pause-subscription */
export const pauseWish = z.strictObject({
  effective_from: effectiveFrom,
  resume_at: z.iso.datetime().optional(),
  on_resume: onResume.optional(),
})
export type PauseWish = z.infer<typeof pauseWish>

/** https://developer.paddle.com/api-reference/subscriptions/resume-subscription */
export const resumeWish = z.strictObject({
  effective_from: z.literal('immediately'),
  on_resume: onResume,
})
export type ResumeWish = z.infer<typeof resumeWish>

/** Plans can be taken back like this; they are made otherwise. */
export const takingBack = z.strictObject({ scheduled_change: z.null() })

/** With another field beside it, Paddle refuses. */
export const cancelation = z.strictObject({ status: z.literal('canceled') })

const refundFields = {
  action: z.literal('refund'),
  transaction_id: z.string().regex(/^txn_[a-z\d]{26}$/),
  reason: z.string().min(1),
}
const itemId = z.string().regex(/^txnitm_[a-z\d]{26}$/)
const item = z.discriminatedUnion('type', [
  z.strictObject({ item_id: itemId, type: z.literal('full') }),
  z.strictObject({ item_id: itemId, type: z.literal('partial'), amount: digits }),
])

/** https://developer.paddle.com/api-reference/adjustments/create-adjustment */
export const newAdjustment = z.discriminatedUnion('type', [
  z.strictObject({ ...refundFields, type: z.literal('full') }),
  z.strictObject({ ...refundFields, type: z.literal('partial'), items: z.tuple([item]) }),
])
export type NewAdjustment = z.infer<typeof newAdjustment>

const eventTypes = z.array(z.string().regex(/^[a-z_]+\.[a-z_]+$/)).min(1)
const endpointFields = {
  destination: z.url({ protocol: /^https?$/ }).max(2048),
  subscribed_events: eventTypes,
  api_version: z.literal(1),
  traffic_source: z.enum(['platform', 'simulation', 'all']),
}

/** https://developer.paddle.com/api-reference/notification-settings/create-notification-setting */
export const newEndpoint = z.strictObject({
  ...endpointFields,
  description: z.string().min(1).max(500),
  type: z.literal('url'),
})
export const changedEndpoint = z.strictObject({ ...endpointFields, active: z.boolean() }).partial()
