import { z } from 'zod'
import type { OutcomeResult } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import { outcomeResultSchema } from './outcome-result.ts'
import { paymentSchema, paymentView } from './payment.ts'

/** The result of a poll. */
export const pollSchema = z.strictObject({
  payment: paymentSchema,
  standing: z.string(),
  results: z.array(outcomeResultSchema).readonly(),
})

interface Polled {
  readonly payment: Payment
  readonly standing: string
  readonly results: readonly OutcomeResult[]
}

export function pollView({ payment, standing, results }: Polled) {
  return { payment: paymentView(payment), standing, results }
}
