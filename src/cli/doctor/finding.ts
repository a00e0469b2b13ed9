import { describeError } from '../describe-error.ts'
import { isQuittanceError } from '../../kernel/errors.ts'

export type FindingState = 'ok' | 'warning' | 'error' | 'skipped'

/** One thing that was checked. */
export interface Finding {
  /** Stable name for monitoring, e.g. `durability`. */
  readonly check: string
  readonly state: FindingState
  readonly found: string
  /** How to fix it; null if there is nothing to fix. */
  readonly fix: string | null
}

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found, fix: null }
}

/** Could not be checked, or does not matter here. */
export function skipped(check: string, found: string): Finding {
  return { check, state: 'skipped', found, fix: null }
}

export interface Fault {
  readonly found: string
  readonly fix: string
}

export function warning(check: string, { found, fix }: Fault): Finding {
  return { check, state: 'warning', found, fix }
}

export function error(check: string, { found, fix }: Fault): Finding {
  return { check, state: 'error', found, fix }
}

/** What was thrown, as a finding. */
export function thrown(check: string, cause: unknown, fix: string): Finding {
  return isQuittanceError(cause)
    ? error(check, { found: cause.message, fix: cause.fix })
    : error(check, { found: describeError(cause), fix })
}
