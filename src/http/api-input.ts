import { z } from 'zod'
import { handlingFields, readHandling, type HandleReviewInput } from '../billing/review-input.ts'
import { paymentFields, readPaymentInput, type PaymentInput } from '../checkout/payment-input.ts'
import { callStates } from '../events/webhook-call.ts'
import { eventTypes } from '../events/catalogue.ts'
import { QuittanceError, type ErrorCode } from '../kernel/errors.ts'
import { snakeCase } from '../kernel/field-names.ts'
import { must, oneOf, text, uuid } from '../kernel/input-rules.ts'
import { faultOf, unknownField } from '../kernel/read-input.ts'
import { invoiceFormats, invoiceStatuses } from '../invoices/invoice.ts'
import {
  buyerFields,
  invoiceFields,
  readInvoiceInput,
  type InvoiceInput,
} from '../money/invoice-input.ts'
import { readRefundInput, refundFields, type RefundInput } from '../money/refund-input.ts'
import {
  readSubscriptionInput,
  subscriptionFields,
  type SubscriptionInputs,
  type SubscriptionWish,
} from '../money/subscription-input.ts'
import { paymentMethodStatuses } from '../payments/payment-method.ts'
import { paymentStatuses } from '../payments/payment.ts'
import { reviewReasons, reviewStates } from '../payments/review.ts'
import { managers, subscriptionStatuses } from '../subscriptions/subscription.ts'
import { readUsage, usageFields, type UsageRecord } from '../usage/usage-input.ts'

/** Input as checked, or the first thing that is wrong with it, naming the field. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string }

const notAnObject = 'the body must be a JSON object'

/** A body in the names of the library: `return_url` becomes `returnUrl`. */
function namedAsInLibrary(
  body: unknown,
  { fields, code }: { readonly fields: readonly string[]; readonly code: ErrorCode },
): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new QuittanceError(code, notAnObject)
  }
  const names = new Map(fields.map((field) => [snakeCase(field), field]))
  const renamed = Object.entries(body).map(([name, value]: [string, unknown]) => {
    const field = names.get(name)
    if (field === undefined) throw new QuittanceError(code, unknownField(name))
    return [field, value] as const
  })
  return Object.fromEntries(renamed)
}

/** The body of a payment to create, checked. Error: `payment_invalid`. */
export function paymentBody(body: unknown): PaymentInput {
  const names = { fields: paymentFields, code: 'payment_invalid' } as const
  return readPaymentInput(namedAsInLibrary(body, names))
}

/** The body of a refund, checked. Error: `refund_invalid`. */
export function refundBody(body: unknown): RefundInput {
  const names = { fields: refundFields, code: 'refund_invalid' } as const
  return readRefundInput(namedAsInLibrary(body, names))
}

/** What a person says who has handled a review, checked. Error: `review_invalid`. */
export function handlingBody(body: unknown): HandleReviewInput {
  const names = { fields: handlingFields, code: 'review_invalid' } as const
  return readHandling(namedAsInLibrary(body, names))
}

/** The body of a wish about a subscription, checked. Error: `subscription_invalid`. */
export function subscriptionBody<W extends SubscriptionWish>(
  wish: W,
  body: unknown,
): SubscriptionInputs[W] {
  const names = { fields: subscriptionFields(wish), code: 'subscription_invalid' } as const
  return readSubscriptionInput(wish, namedAsInLibrary(body, names))
}

/** One record of usage, or a list of them, checked. Error: `usage_invalid`. */
export function usageBody(body: unknown): readonly UsageRecord[] {
  const names = { fields: usageFields, code: 'usage_invalid' } as const
  const named = (one: unknown) => namedAsInLibrary(one, names)
  return readUsage(Array.isArray(body) ? body.map(named) : named(body))
}

/** The body of a document to issue, checked. Error: `invoice_invalid`. */
export function invoiceBody(body: unknown): InvoiceInput {
  const code = 'invoice_invalid'
  const { buyer, ...wanted } = namedAsInLibrary(body, { fields: invoiceFields, code })
  if (buyer === undefined) return readInvoiceInput(wanted)
  const named = namedAsInLibrary(buyer, { fields: buyerFields, code })
  return readInvoiceInput({ ...wanted, buyer: named })
}

export const emptyBody = z.strictObject({}, must(notAnObject))

const limitRule = must('must be a whole number from 1 to 100')
const limit = z
  .string()
  .regex(/^(?:[1-9]\d?|100)$/, limitRule)
  .transform(Number)
const paging = { limit: limit.optional(), cursor: text(200).optional() }

const payableRule = must('must be type:id, such as order:42')
/** `order:42`: the id may contain further colons. */
const payableText = z
  .string()
  .refine((value) => /^[^:]+:./.test(value), payableRule)
  .transform((value) => {
    const [type = '', ...id] = value.split(':')
    return { type, id: id.join(':') }
  })

export const paymentsQuery = z.strictObject({
  ...paging,
  gateway: text(64).optional(),
  status: oneOf(paymentStatuses).optional(),
  payable: payableText.optional(),
  customer: text(1000).optional(),
})

export const subscriptionsQuery = z.strictObject({
  ...paging,
  gateway: text(64).optional(),
  status: oneOf(subscriptionStatuses).optional(),
  managed_by: oneOf(managers).optional(),
  payable: payableText.optional(),
})

const monthRule = must('must be a month such as 2026-11')
const month = z.string().regex(/^\d{4}-\d{2}$/, monthRule)

export const invoicesQuery = z.strictObject({
  ...paging,
  payable: payableText.optional(),
  subscription_id: uuid.optional(),
  payment_id: uuid.optional(),
  status: oneOf(invoiceStatuses).optional(),
  series: text(64).optional(),
  month: month.optional(),
})

export const exportQuery = z.strictObject({ month, format: oneOf(invoiceFormats).optional() })

export const paymentMethodsQuery = z.strictObject({
  ...paging,
  payable: payableText.optional(),
  customer: text(255).optional(),
  customer_reference: text(255).optional(),
  payment_id: uuid.optional(),
  gateway: text(64).optional(),
  status: oneOf(paymentMethodStatuses).optional(),
})

export const callsQuery = z.strictObject({
  ...paging,
  state: oneOf(callStates).optional(),
  gateway: text(64).optional(),
  needs_review: oneOf(['true', 'false'])
    .transform((value) => value === 'true')
    .optional(),
  payment_id: uuid.optional(),
})

export const reviewsQuery = z.strictObject({
  ...paging,
  state: oneOf(reviewStates).optional(),
  reason: oneOf(reviewReasons).optional(),
  gateway: text(64).optional(),
  payment_id: uuid.optional(),
})

export const eventsQuery = z.strictObject({
  ...paging,
  payment_id: uuid.optional(),
  subscription_id: uuid.optional(),
  type: z.enum(eventTypes, must('must be one of the event names')).optional(),
})

export function check<T>(schema: z.ZodType<T>, input: unknown): Checked<T> {
  const result = schema.safeParse(input)
  if (result.success) return { ok: true, value: result.data }
  const { field, fault } = faultOf(result.error)
  return { ok: false, message: field === undefined ? fault : `${field} ${fault}` }
}

/** A query as an object; undefined if a name is given twice, because either could be meant. */
export function readQuery(search: URLSearchParams): Record<string, string> | undefined {
  const names = [...search.keys()]
  return new Set(names).size === names.length ? Object.fromEntries(search) : undefined
}
