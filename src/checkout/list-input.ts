import { z } from 'zod'
import type { PaymentsQuery } from '../database/list-payments.ts'
import type { PaymentMethodsQuery } from '../database/payment-methods.ts'
import { fieldError } from '../kernel/errors.ts'
import { text } from '../kernel/input-rules.ts'
import { readInput } from '../kernel/read-input.ts'
import { paymentRules } from './payment-input.ts'

/** Whose rows: in a list, these decide what one customer sees of another. */
const lookup = { customer: text(1000).optional() }
const rest = z.unknown().optional()
const page = { gateway: rest, status: rest, limit: rest, cursor: rest }

const payments = z.strictObject({
  ...lookup,
  payable: paymentRules.payable.optional(),
  ...page,
} satisfies Record<keyof PaymentsQuery, z.ZodType>)

const paymentMethods = z.strictObject({
  ...lookup,
  customerReference: text(500).optional(),
  paymentId: text(500).optional(),
  ...page,
} satisfies Record<keyof PaymentMethodsQuery, z.ZodType>)

/** Error: `payment_invalid`, naming the field. */
export function checkPaymentsQuery(query: PaymentsQuery): void {
  checkQuery(payments, query, ['customer', 'payable'])
}

/** Error: `payment_invalid`, naming the field. */
export function checkPaymentMethodsQuery(query: PaymentMethodsQuery): void {
  checkQuery(paymentMethods, query, ['customer', 'customerReference', 'paymentId'])
}

/**
 * A misspelt filter, or the id of somebody who is not signed in, would list the rows of everybody:
 * an app in JavaScript may show them, or remove them.
 */
function checkQuery(schema: z.ZodType, query: object, filters: readonly string[]): void {
  readInput(schema, query, 'payment_invalid')
  const given = new Map<string, unknown>(Object.entries(query))
  const empty = filters.find((name) => given.has(name) && given.get(name) === undefined)
  if (empty === undefined) return
  throw fieldError(
    'payment_invalid',
    empty,
    'is undefined; to list those of everybody, leave it out',
  )
}
