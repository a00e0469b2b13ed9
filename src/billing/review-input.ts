import { z } from 'zod'
import type { ReviewAnswer } from '../database/handle-review.ts'
import { serviceOperator } from '../database/reviews.ts'
import { must, orNull, text } from '../kernel/input-rules.ts'
import { readInput } from '../kernel/read-input.ts'

/** What a caller gives to handle a review. */
export interface HandleReviewInput {
  /** What was found, and what was done. */
  readonly note: string
  /** Who has looked: any name but `service`. */
  readonly operator?: string | undefined
  /** The `version` of the review that was looked at: if it has changed since, nothing is handled. */
  readonly version?: number | undefined
}

const versionRule = must('must be a whole number from 1')

/** What each field may be, by its name in the library. */
export const handlingRules = {
  note: text(2000),
  operator: orNull(
    text(200).refine((name) => name !== serviceOperator, must('must be the name of a person')),
  ),
  version: orNull(z.int(versionRule).min(1, versionRule)),
} satisfies Record<keyof HandleReviewInput, z.ZodType>

const schema = z.strictObject(handlingRules)

/** Error: `review_invalid`, naming the field. */
export function readHandling(input: unknown): ReviewAnswer {
  return readInput(schema, input, 'review_invalid')
}
