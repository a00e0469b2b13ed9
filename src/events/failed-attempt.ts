export const failureKinds = ['listener', 'provider', 'database', 'worker_lost', 'code'] as const
/** Who failed when an attempt did; `code`: our own, or a gateway's. */
export type FailureKind = (typeof failureKinds)[number]

/** An attempt at a call, or at a delivery, that failed. */
export interface FailedAttempt {
  /** From 1; a replay begins anew. */
  readonly attempt: number
  /** The listener that failed, if one did. */
  readonly listener: string | null
  /** What it threw, without secrets. */
  readonly exception: string
  readonly at: Date
}
