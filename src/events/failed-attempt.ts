import * as field from '../kernel/noun.ts'
import { orNull, type Values } from '../kernel/noun.ts'

export const failureKinds = ['listener', 'provider', 'database', 'worker_lost', 'code'] as const
/** Who failed when an attempt did; `code`: our own, or a gateway's. */
export type FailureKind = (typeof failureKinds)[number]

export const failedAttemptFields = {
  /** From 1; after a replay from 1 again. */
  attempt: field.count(),
  /** The listener that failed, if one did. */
  listener: orNull(field.text()),
  /** What it threw, without secrets. */
  exception: field.text({ label: 'it threw' }),
  at: field.time({ label: 'time' }),
}

/** An attempt at a call, or at a delivery, that failed. */
export interface FailedAttempt extends Values<typeof failedAttemptFields> {}
