import { z } from 'zod'
import type { NewRun } from '../database/runs.ts'
import { fieldError } from '../kernel/errors.ts'
import { oneOf, orNull, text, time, uuid } from '../kernel/input-rules.ts'
import { readInput } from '../kernel/read-input.ts'
import { comparedLength } from '../upkeep/failed-rows.ts'
import { runKinds, type RunKind } from '../wire/run.ts'

/** What of all that has failed for good is replayed; all of it, if nothing else is given. */
export interface StartRunInput {
  /** A UUID of the caller's: started again with the same filter, it is the same run. */
  readonly id: string
  /** Who starts it. */
  readonly operator?: string | null | undefined
  /** Only calls of this gateway, and deliveries about its payments, cards and subscriptions. */
  readonly gateway?: string | null | undefined
  readonly kind?: RunKind | null | undefined
  /** Only what this listener has failed. */
  readonly listener?: string | null | undefined
  /**
   * Only what failed with this: the first line of the exception, or its first 500 characters, with
   * spaces for control characters.
   */
  readonly exception?: string | null | undefined
  /** Only calls received, and deliveries created, at that time or later. */
  readonly since?: Date | null | undefined
  /** Only calls received, and deliveries created, before that time. */
  readonly until?: Date | null | undefined
}

/** What each field may be, by its name in the library. */
export const runRules = {
  id: uuid,
  operator: orNull(text(200)),
  gateway: orNull(text(64)),
  kind: orNull(oneOf(runKinds)),
  listener: orNull(text(200)),
  exception: orNull(text(comparedLength)),
  since: orNull(time),
  until: orNull(time),
} satisfies Record<keyof StartRunInput, z.ZodType>

const schema = z.strictObject(runRules)

/** Error: `run_invalid`, naming the field. */
export function readRun(input: unknown): Omit<NewRun, 'estimate'> {
  const { id, operator, ...read } = readInput(schema, input, 'run_invalid')
  const { gateway = null, kind = null, listener = null, exception = null } = read
  const { since = null, until = null } = read
  if (since !== null && until !== null && since >= until) {
    throw fieldError('run_invalid', 'until', 'must be later than since')
  }
  const filter = { gateway, kind, listener, exception, since, until }
  return { id, operator: operator ?? null, filter }
}
