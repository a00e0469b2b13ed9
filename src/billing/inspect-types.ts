import type { RefusalCount, StoredRefusal } from '../database/refusals.ts'

/** Which refused callbacks; those of all gateways if left out. */
export interface RefusalsQuery {
  /** Canonical; empty: callbacks that name no gateway that there is. */
  readonly gateway?: string
}

/** Callbacks that were not accepted. */
export interface Refusals {
  /** Of the last 24 hours, up to a minute ago; most first. */
  readonly counts: readonly RefusalCount[]
  /** What a few of the last 7 days looked like, newest first; at most five for a reason. */
  readonly samples: readonly StoredRefusal[]
}

/** `billing.inspect`: what a person looks at who runs the service. */
export interface InspectOperations {
  /** Callbacks that were refused, by reason, and what a few looked like. Error: query_invalid. */
  refusals(query?: RefusalsQuery): Promise<Refusals>
}
