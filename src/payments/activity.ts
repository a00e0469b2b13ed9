/** What a provider was asked about a payment, and how it answered; equal ones in a row are one. */
export interface PaymentActivity {
  /** Such as `checkout`, `poll` or `refund`. */
  readonly operation: string
  /** `answered`, `refused`, `invalid`, `unreachable` or `failed`. */
  readonly result: string
  /** What it answered, or why it did not; null: nothing else is known. */
  readonly detail: string | null
  readonly times: number
  /** How long the last one took. */
  readonly durationMs: number
  readonly firstAt: Date
  readonly lastAt: Date
}
