import * as field from '../kernel/noun.ts'
import { orNull, type Values } from '../kernel/noun.ts'

export const activityFields = {
  /** Such as `checkout`, `poll` or `refund`. */
  operation: field.text(),
  /** `answered`, `refused`, `invalid`, `unreachable` or `failed`. */
  result: field.text(),
  /** What it answered, or why it did not; null: nothing else is known. */
  detail: orNull(field.text()),
  times: field.count(),
  /** How long the last one took. */
  durationMs: field.count(),
  firstAt: field.time(),
  lastAt: field.time(),
}

/** What a provider was asked about a payment, and how it answered; equal ones in a row are one. */
export interface PaymentActivity extends Values<typeof activityFields> {}
