import * as field from '../kernel/noun.ts'
import { orNull, viewOf, type JsonValues, type Noun, type Values } from '../kernel/noun.ts'
import { schemaOf } from './noun.ts'

export const runKinds = ['call', 'delivery', 'deferred_event'] as const

/** What a run may replay. */
export type RunKind = (typeof runKinds)[number]

export const runStates = ['running', 'stopping', 'stopped', 'finished'] as const

/** How far a run is; `stopping`: it was asked to stop, and is within its last batch. */
export type RunState = (typeof runStates)[number]

const filterFields = {
  /** Only calls of this gateway, and deliveries about its payments, cards and subscriptions. */
  gateway: orNull(field.text({ of: 'gateway' })),
  kind: orNull(field.choice(runKinds)),
  /** Only what this listener has failed. */
  listener: orNull(field.text()),
  /** Only what failed with this: the first line of the exception, or its first 500 characters. */
  exception: orNull(field.text()),
  /** Only calls received, and deliveries created, at that time or later. */
  since: orNull(field.time()),
  /** Only calls received, and deliveries created, before that time. */
  until: orNull(field.time()),
}
/** What of all that has failed for good is replayed; null: whatever it is. */
export interface RunFilter extends Values<typeof filterFields> {}

export function filterText({ kind, gateway, listener, exception }: RunFilter): string {
  const parts = [kind?.replace('_', ' ') ?? 'all', gateway, listener, exception]
  return parts.filter((part) => part !== null).join(', ')
}

export const runFields = {
  id: field.id('run'),
  /** Who started it; null: nobody said. */
  operator: orNull(field.text({ label: 'by' })),
  filter: field.part(filterFields, { label: 'of', toText: filterText }),
  state: field.choice(runStates),
  /** How many matched before it began. */
  estimate: field.count(),
  /** There may have been more: counting ends after 10,000 failed rows of a kind. */
  estimateIsLeast: field.flag(),
  /** How many are put back into the queue so far. */
  done: field.count({ label: 'put back into the queue' }),
  /** How many of these have failed for good once more. */
  failedAgain: field.count(),
  /** How many of these have not ended yet. */
  waiting: field.count({ label: 'not ended yet' }),
  createdAt: field.time({ label: 'begun' }),
  /** When all that matched was in the queue, or it was stopped; null: neither yet. */
  finishedAt: orNull(field.time({ label: 'ended' })),
}

/** A replay of all that had failed when it began, and matches a filter. */
export interface Run extends Values<typeof runFields> {}

export const runSchema = schemaOf(runFields)
export const runView: (run: Run) => JsonValues<typeof runFields> = viewOf(runFields)

export const runNoun: Noun<Run> = {
  plural: 'runs',
  facts: runFields,
  filters: {},
  columns: ['id', 'state', 'filter', 'done', 'operator', 'createdAt'],
  view: runView,
}
