import { z } from 'zod'
import { minorUnits, orNull, text, uuid } from '../kernel/input-rules.ts'
import { readInput } from '../kernel/read-input.ts'

/** What a caller gives to refund a payment. */
export interface CreateRefundInput {
  /** A UUID chosen by the caller: makes the call repeatable. */
  readonly id?: string | undefined
  /** In minor units; all that is left by default. */
  readonly amount?: bigint | number | undefined
  /** For the provider and the operator: free text. */
  readonly reason?: string | undefined
}

/**
 * The one rule for the library, the API and the command. An amount is never null: JSON turns an
 * invalid number into null, and the whole payment would be refunded.
 */
export const refundRules = {
  id: uuid.optional(),
  amount: minorUnits(1n).optional(),
  reason: orNull(text(500)),
} satisfies Record<keyof CreateRefundInput, z.ZodType>

const schema = z.strictObject(refundRules)

/** The input, checked. */
export type RefundInput = z.output<typeof schema>

/** Error: `refund_invalid`, naming the field. */
export function readRefundInput(input: unknown): RefundInput {
  return readInput(schema, input, 'refund_invalid')
}
