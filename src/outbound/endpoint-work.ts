import type { Pace } from '../kernel/pace.ts'
import type { LeasedEndpoint } from './lease-endpoints.ts'
import type { Secret } from '../kernel/secret.ts'
import { isOpen, type Health } from './breaker.ts'
import type { EndpointWindow } from './endpoint-window.ts'
import type { Result } from './flush-results.ts'
import type { ForwardContext } from './forward-context.ts'
import type { Slots } from './slots.ts'

/**
 * Where so many results wait to be written, nothing more is sent before. So many events are loaded
 * together to be sorted out, at most.
 */
export const mostTogether = 32

/** What the work on an endpoint needs. */
export interface RunOptions {
  readonly endpoint: LeasedEndpoint
  /** The newest first; all of them sign. */
  readonly secrets: readonly Secret[]
  readonly slots: Slots
  readonly context: ForwardContext
  /** Cuts off what is still under way; what it did is not known then. */
  readonly signal: AbortSignal
}

/** The work on an endpoint. */
export interface Work extends RunOptions {
  readonly window: EndpointWindow
  readonly pace: Pace
  readonly state: State
  wake(): void
}

/** How it stands. */
export interface State {
  health: Health
  underWay: number
  results: readonly Result[]
  /** Begins nothing more. */
  isStopping: boolean
  /** Somebody else has the endpoint. */
  isLost: boolean
  /** The last write has failed: before anything else, what is known is written. */
  mustWrite: boolean
  /** What should never be thrown: it ends the work. */
  fault: unknown
  written: { position: bigint; at: number }
  /** When it was last seen that the lease is ours. */
  heldAt: number
  readonly begunAt: number
  busyAt: number
}

/** Whether more may be sent to it. */
export function mayBegin({ health, isStopping, isLost }: State): boolean {
  return !isStopping && !isLost && health.rest === undefined
}

/** It has failed so often, and what is under way decides how it goes on. */
export function isProbed({ state }: Work): boolean {
  return isOpen(state.health) && (state.underWay > 0 || state.results.length > 0)
}
