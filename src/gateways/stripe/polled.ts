import type { Outcome } from '../../payments/outcome.ts'
import type { OpenedCheckout, Standing } from '../operations.ts'

/** What an object says of the payment that it was fetched for. */
export interface Polled {
  readonly outcomes: readonly Outcome[]
  readonly standing: Standing
  /** The intents that have paid it, whose refunds are its own; undefined where they are not known. */
  readonly intents: readonly string[] | undefined
  /** What it is, for a payment that did not know. */
  readonly checkout: Partial<OpenedCheckout>
}
