import type { Outcome } from '../payments/outcome.ts'
import type { IgnoredReason } from '../payments/reasons.ts'

/**
 * What an outcome says, in short: `payment:paid`, `ignored:no_outcome`. It is about the whole
 * amount of the payment, unless a share is named: `refund:paid half`. Half of an odd amount is
 * rounded down.
 */
export type Meaning = Said | `${Said} half` | `${Said} rest` | `ignored:${IgnoredReason}`

type Said = SaidOf<Outcome>
type SaidOf<One> = One extends { readonly type: infer Type; readonly status: infer Status }
  ? `${Type & string}:${Status & string}`
  : never

/** A kind of test callback. */
export interface Scenario {
  /** What it shows, as a phrase for people. */
  readonly shows: string
  /** What `interpret` makes of it, in order; `looked up`: only the provider's API can say. */
  readonly means: readonly Meaning[] | 'looked up'
}
