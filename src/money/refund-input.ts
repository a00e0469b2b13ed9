import { z } from 'zod'
import { minorUnits, must, orNull, text, uuid } from '../kernel/input-rules.ts'
import { readInput } from '../kernel/read-input.ts'

/** What a caller gives to refund a payment. */
export interface CreateRefundInput {
  /** A UUID of the caller's: makes the call repeatable. */
  readonly id?: string | undefined
  /** Minor units; all that is left by default. */
  readonly amount?: bigint | number | undefined
  /** For the provider and the operator: free text. */
  readonly reason?: string | undefined
}

/**
 * The one rule, for the library, the API and the command. An amount is never null: JSON makes that of
 * a number that is none, and all of the payment would be given back.
 */
const rules = {
  id: uuid.optional(),
  amount: minorUnits(1n).optional(),
  reason: orNull(text(500)),
} satisfies Record<keyof CreateRefundInput, z.ZodType>

const schema = z.strictObject(rules, must('the input must be an object'))

/** The input, checked. */
export type RefundInput = z.output<typeof schema>

/** Names of the fields, as the library has them. */
export const refundFields = Object.keys(rules)

/** Error: `refund_invalid`, naming the field. */
export function readRefundInput(input: unknown): RefundInput {
  return readInput(schema, input, 'refund_invalid')
}
