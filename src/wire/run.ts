import { z } from 'zod'
import { id, time } from './fields.ts'

export const runKinds = ['call', 'delivery', 'deferred_event'] as const

/** What a run may replay. */
export type RunKind = (typeof runKinds)[number]

export const runStates = ['running', 'stopping', 'stopped', 'finished'] as const

/** How far a run is; `stopping`: it was asked to stop, and is within its last batch. */
export type RunState = (typeof runStates)[number]

/** What of all that has failed for good is replayed; null: whatever it is. */
export interface RunFilter {
  /** Only calls of this gateway, and deliveries about its payments, cards and subscriptions. */
  readonly gateway: string | null
  readonly kind: RunKind | null
  /** Only what this listener has failed. */
  readonly listener: string | null
  /** Only what failed with this: the first line of the exception, or its first 500 characters. */
  readonly exception: string | null
  /** Only calls received, and deliveries created, at that time or later. */
  readonly since: Date | null
  /** Only calls received, and deliveries created, before that time. */
  readonly until: Date | null
}

/** A replay of all that had failed when it began, and matches a filter. */
export interface Run {
  readonly id: string
  /** Who started it; null: nobody said. */
  readonly operator: string | null
  readonly filter: RunFilter
  readonly state: RunState
  /** How many matched before it began. */
  readonly estimate: number
  /** There may have been more: counting ends after 10,000 failed rows of a kind. */
  readonly estimateIsLeast: boolean
  /** How many are put back into the queue so far. */
  readonly done: number
  /** How many of these have failed for good once more. */
  readonly failedAgain: number
  /** How many of these have not ended yet. */
  readonly waiting: number
  readonly createdAt: Date
  /** When all that matched was in the queue, or it was stopped; null: neither yet. */
  readonly finishedAt: Date | null
}

/** A replay of all that had failed when it began, and matches a filter. */
export const runSchema = z.strictObject({
  id,
  operator: z.string().nullable(),
  filter: z.strictObject({
    gateway: z.string().nullable(),
    kind: z.enum(runKinds).nullable(),
    listener: z.string().nullable(),
    exception: z.string().nullable(),
    since: time.nullable(),
    until: time.nullable(),
  }),
  state: z.enum(runStates),
  estimate: z.int(),
  estimate_is_least: z.boolean(),
  done: z.int(),
  failed_again: z.int(),
  waiting: z.int(),
  created_at: time,
  finished_at: time.nullable(),
})

export function runView({ filter, ...run }: Run): z.output<typeof runSchema> {
  return {
    id: run.id,
    operator: run.operator,
    filter: {
      ...filter,
      since: filter.since?.toISOString() ?? null,
      until: filter.until?.toISOString() ?? null,
    },
    state: run.state,
    estimate: run.estimate,
    estimate_is_least: run.estimateIsLeast,
    done: run.done,
    failed_again: run.failedAgain,
    waiting: run.waiting,
    created_at: run.createdAt.toISOString(),
    finished_at: run.finishedAt?.toISOString() ?? null,
  }
}
