import { z } from 'zod'
import { handlingRules, readHandling } from '../../billing/review-input.ts'
import { paymentRules, readPaymentInput } from '../../checkout/payment-input.ts'
import { QuittanceError, type ErrorCode } from '../../kernel/errors.ts'
import { hasFields } from '../../kernel/has-fields.ts'
import { snakeCase } from '../../kernel/field-names.ts'
import { must } from '../../kernel/input-rules.ts'
import { inputError, unknownField } from '../../kernel/read-input.ts'
import { buyerRules, invoiceRules, readInvoiceInput } from '../../money/invoice-input.ts'
import { readRefundInput, refundRules } from '../../money/refund-input.ts'
import {
  readSubscriptionInput,
  subscriptionRules,
  type SubscriptionInputs,
  type SubscriptionWish,
} from '../../money/subscription-input.ts'
import { mostRecords, readUsage, usageRules, type UsageRecord } from '../../usage/usage-input.ts'
import { refuseInput } from './errors.ts'
import { check } from './queries.ts'
import type { BodyForm } from './route.ts'

type Fields = Readonly<Record<string, unknown>>
type Rules = Readonly<Record<string, z.ZodType>>

const notAnObject = 'the body must be a JSON object'

/** The rules of the library under the names of JSON: `return_url` for `returnUrl`. */
export function inJson(rules: Rules) {
  const fields = Object.entries(rules).map(([field, rule]) => [snakeCase(field), rule] as const)
  return z.strictObject(Object.fromEntries(fields), must(notAnObject))
}

interface Refused {
  readonly code: ErrorCode
  /** Where in the body it stands, if it is not the body itself. */
  readonly place?: readonly string[]
}

/** Fields as JSON has them, under the names of the library. */
export function inLibrary(given: unknown, rules: Rules, { code, place }: Refused): Fields {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new QuittanceError(code, notAnObject)
  }
  const names = new Map(Object.keys(rules).map((field) => [snakeCase(field), field]))
  const renamed = Object.entries(given).map(([name, value]: [string, unknown]) => {
    const field = names.get(name)
    if (field === undefined) throw inputError(code, unknownField(name, [...names.keys()], place))
    return [field, value] as const
  })
  return Object.fromEntries(renamed)
}

/** A payment to create. Error: `payment_invalid`. */
export const paymentBody = {
  schema: inJson(paymentRules),
  read: (given: unknown) =>
    readPaymentInput(inLibrary(given, paymentRules, { code: 'payment_invalid' })),
}

/** A refund to make. Error: `refund_invalid`. */
export const refundBody = {
  schema: inJson(refundRules),
  mayBeEmpty: true,
  read: (given: unknown) =>
    readRefundInput(inLibrary(given, refundRules, { code: 'refund_invalid' })),
}

/** What a person says who has handled a review. Error: `review_invalid`. */
export const handlingBody = {
  schema: inJson(handlingRules),
  read: (given: unknown) =>
    readHandling(inLibrary(given, handlingRules, { code: 'review_invalid' })),
}

/** A wish about a subscription. Error: `subscription_invalid`. */
export function subscriptionBody<W extends SubscriptionWish>(
  wish: W,
): BodyForm<SubscriptionInputs[W]> {
  const rules = subscriptionRules(wish)
  return {
    schema: inJson(rules),
    // Only what makes or changes one says nothing without a field.
    mayBeEmpty: wish !== 'create' && wish !== 'change',
    read: (given) =>
      readSubscriptionInput(wish, inLibrary(given, rules, { code: 'subscription_invalid' })),
  }
}

/** One record of usage. */
export const usageRecord = inJson(usageRules)
const usageIn = (given: unknown, ...place: readonly string[]) =>
  inLibrary(given, usageRules, { code: 'usage_invalid', place })

/** One record of usage, or a list of them. Error: `usage_invalid`. */
export const usageBody = {
  schema: z.union([usageRecord, z.array(usageRecord).max(mostRecords)]),
  // A thousand records, each as long as it may be.
  mostBytes: 1024 * 1024,
  read: (given: unknown): { readonly records: readonly UsageRecord[]; readonly isList: boolean } =>
    Array.isArray(given)
      ? { records: readUsage(given.map((one, place) => usageIn(one, String(place)))), isList: true }
      : { records: readUsage(usageIn(given)), isList: false },
}

/** A document to issue. Error: `invoice_invalid`. */
export const invoiceBody = {
  schema: inJson({ ...invoiceRules, buyer: inJson(buyerRules).optional() }),
  mayBeEmpty: true,
  read: (given: unknown) => {
    const code = 'invoice_invalid'
    const { buyer, ...wanted } = inLibrary(given, invoiceRules, { code })
    if (!hasFields(buyer)) return readInvoiceInput({ ...wanted, buyer })
    const inside = inLibrary(buyer, buyerRules, { code, place: ['buyer'] })
    return readInvoiceInput({ ...wanted, buyer: inside })
  },
}

const nothing = inJson({})

/** Of a route without fields: 422 if any are given. */
export const noFields = {
  schema: nothing,
  mayBeEmpty: true,
  read: (given: unknown): void => {
    const checked = check(nothing, given)
    if (!checked.ok) throw refuseInput(checked, 422)
  },
}
