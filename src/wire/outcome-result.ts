import { z } from 'zod'
import { ignoredReasons } from '../payments/reasons.ts'

/** What became of one statement of a callback or of a poll. */
export const outcomeResultSchema = z.union([
  z.strictObject({
    result: z.enum(['applied', 'duplicate']),
    type: z.string(),
    detail: z.string().optional(),
  }),
  z.strictObject({
    result: z.literal('ignored'),
    type: z.string(),
    reason: z.enum(ignoredReasons),
    detail: z.string().optional(),
  }),
])
