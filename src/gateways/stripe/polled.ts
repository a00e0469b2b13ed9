import type { Outcome } from '../../payments/outcome.ts'
import type { OpenedCheckout, Standing } from '../operations.ts'

/** What an object says of the payment for which it was fetched. */
export interface Polled {
  readonly outcomes: readonly Outcome[]
  readonly standing: Standing
  /** The intents that have paid it, whose refunds are its own; undefined if they are unknown. */
  readonly intents: readonly string[] | undefined
  /** The checkout that it is, for a payment that did not have one. */
  readonly checkout: Partial<OpenedCheckout>
}
