import { callStates } from '../database/tables.ts'
import { z } from 'zod'
import { eventTypes } from '../events/catalogue.ts'
import { isUuid } from '../kernel/ids.ts'
import { paymentStatuses } from '../payments/payment.ts'
import type { CreatePaymentInput } from '../checkout/payment-input.ts'

type Schema<T> = z.ZodType<T>

/** Input as checked, or the first thing that is wrong with it, naming the field. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string }

/** Deeper than any honest `metadata`, and far from what makes `JSON.stringify` run out of stack. */
const greatestDepth = 16

function must(text: string) {
  return {
    error: (issue: { input?: unknown }) => (issue.input === undefined ? 'is required' : text),
  }
}

function text(longest: number) {
  const rule = must(`must be text of 1 to ${longest} characters without control characters`)
  return z.string(rule).refine((value) => isPrintable(value, longest), rule)
}

function isPrintable(value: string, longest: number): boolean {
  if (value.length === 0 || value.length > longest || !value.isWellFormed()) return false
  return !/\p{Cc}/u.test(value)
}

function plainObject() {
  const rule = must(`must be an object, nested at most ${greatestDepth} deep`)
  return z
    .record(z.string(), z.unknown(), rule)
    .refine((value) => isShallow(value, greatestDepth), rule)
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1))
}

function isWebUrl(value: string): boolean {
  return /^https?:\/\//.test(value) && URL.canParse(value)
}

const uuidRule = must('must be a UUID in lower case')
const uuid = z.string(uuidRule).refine(isUuid, uuidRule)

const amountRule = must('must be a whole number of minor units, not negative')
const amount = z
  .number(amountRule)
  .refine((value) => Number.isSafeInteger(value) && value >= 0, amountRule)
const refundAmountRule = must('must be a whole number of minor units above 0')
const refundAmount = z
  .number(refundAmountRule)
  .refine((value) => Number.isSafeInteger(value) && value > 0, refundAmountRule)

const currencyRule = must('must be an ISO 4217 code in capitals, such as UAH')
const urlRule = must('must be an http or https URL')
const flag = z.boolean(must('must be true or false'))
const timeRule = must('must be a time in ISO 8601, such as 2026-11-20T09:30:00Z')
const time = z.iso.datetime({ offset: true, ...timeRule }).transform((value) => new Date(value))
const objectRule = must('must be a JSON object')

export const createPaymentBody = z.strictObject(
  {
    id: uuid.optional(),
    gateway: text(64),
    amount,
    currency: z.string(currencyRule).regex(/^[A-Z]{3}$/, currencyRule),
    payable: z.strictObject({ type: text(255), id: text(255) }, must('must be {type, id}')),
    description: text(1000).optional(),
    return_url: text(2000).refine(isWebUrl, urlRule).optional(),
    customer: plainObject().optional(),
    metadata: plainObject().optional(),
    merchant_account: text(255).optional(),
    live: flag.optional(),
    checkout: flag.optional(),
    checkout_reference: text(255).optional(),
    provider_reference: text(255).optional(),
    expires_at: time.optional(),
    save_card: flag.optional(),
    payment_method_id: uuid.optional(),
    initiated_by: oneOf(['customer', 'merchant']).optional(),
  },
  objectRule,
)

/** The body in the names of the library. */
export function paymentInput({
  return_url: returnUrl,
  merchant_account: merchantAccount,
  checkout_reference: checkoutReference,
  provider_reference: providerReference,
  expires_at: expiresAt,
  save_card: saveCard,
  payment_method_id: paymentMethodId,
  initiated_by: initiatedBy,
  ...same
}: z.output<typeof createPaymentBody>): CreatePaymentInput {
  return {
    ...same,
    returnUrl,
    merchantAccount,
    checkoutReference,
    providerReference,
    expiresAt,
    saveCard,
    paymentMethodId,
    initiatedBy,
  }
}

export const refundBody = z.strictObject(
  { id: uuid.optional(), amount: refundAmount.optional(), reason: text(500).optional() },
  objectRule,
)

export const emptyBody = z.strictObject({}, objectRule)

const limitRule = must('must be a whole number from 1 to 100')
const limit = z
  .string()
  .regex(/^(?:[1-9]\d?|100)$/, limitRule)
  .transform(Number)
const paging = { limit: limit.optional(), cursor: text(200).optional() }

export const paymentsQuery = z.strictObject({
  ...paging,
  gateway: text(64).optional(),
  status: oneOf(paymentStatuses).optional(),
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

export const eventsQuery = z.strictObject({
  ...paging,
  payment_id: uuid.optional(),
  type: z.enum(eventTypes, must('must be one of the event names')).optional(),
})

function oneOf<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, must(`must be one of ${values.join(', ')}`))
}

export function check<T>(schema: Schema<T>, input: unknown): Checked<T> {
  const result = schema.safeParse(input)
  if (result.success) return { ok: true, value: result.data }
  const [issue] = result.error.issues
  return { ok: false, message: issue === undefined ? 'the input is not allowed' : sentence(issue) }
}

function sentence(issue: z.core.$ZodIssue): string {
  const place = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    const [unknown = ''] = issue.keys
    const name = place === '' ? unknown : `${place}.${unknown}`
    return `unknown field ${JSON.stringify(name.slice(0, 80))}`
  }
  return `${place === '' ? 'the body' : place} ${issue.message}`
}

/** A query as an object; undefined where a name is given twice, since either could be meant. */
export function readQuery(search: URLSearchParams): Record<string, string> | undefined {
  const names = [...search.keys()]
  return new Set(names).size === names.length ? Object.fromEntries(search) : undefined
}
