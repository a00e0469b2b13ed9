import type { Kysely } from 'kysely'
import type { Database } from '../database/connect.ts'
import { insertQuotaEvents } from '../database/deferred-events.ts'
import type { Tables } from '../database/tables.ts'
import {
  lockCounters,
  readWindowFacts,
  updateCounters,
  updateUsed,
  type CounterKey,
} from '../database/usage-counters.ts'
import { deleteKeys, findKeys, insertKeys } from '../database/usage-keys.ts'
import {
  cannotFit,
  judgeUsage,
  type KeyStanding,
  type UsageResult,
} from '../subscriptions/judge-usage.ts'
import { inWindowOf, isOver } from '../subscriptions/quota-window.ts'
import type { FiredQuotaEvent, MovedCounter } from '../subscriptions/quota-events.ts'
import type { QuotaCounter } from '../subscriptions/quota.ts'
import type { ProcessingContext } from '../processing/context.ts'
import type { UsageRecord } from './usage-input.ts'

/** What counting needs. */
export interface UsageContext {
  readonly processing: Pick<ProcessingContext, 'subscriptionTime' | 'newId' | 'wake'> & {
    readonly database: Pick<Database, 'transaction'>
  }
  /** The queue whose workers run the queued listeners of its events. */
  readonly queue: string
}

/** What is counted in one transaction. */
export interface Flush {
  /** Each of a key of its own. */
  readonly records: readonly UsageRecord[]
  /** What its rows are recognised by. */
  readonly token: string
  /** It was tried before, and may have been committed: its answer was lost. */
  readonly isRepeated: boolean
}

/**
 * Counts what was used. **The flush on one screen**: one transaction locks the counters in order,
 * moves the windows that are over, writes the keys that are new, judges in order, and updates each
 * counter once. No subscription is locked: one that is being paid is held for as long as listeners
 * run. Results in the order of the records.
 */
export async function flushUsage(
  flush: Flush,
  context: UsageContext,
): Promise<readonly UsageResult[]> {
  const { database, subscriptionTime, newId, wake } = context.processing
  const flushed = await database.transaction(async ({ db }) => {
    const locked = await lockCounters(db, countersOf(flush.records))
    // Not before: whoever was waited for may have moved a window to a later time.
    const now = await subscriptionTime(db)
    const moved = await moveWindows(db, locked, now)
    const keys = await countKeys(db, { ...flush, moved, now })
    const judged = judge(flush.records, moved, keys.standingOf)
    await writeCounters(db, locked, judged.counters)
    await deleteKeys(db, judged.refused.filter(keys.isWritten))
    await insertQuotaEvents(db, judged.events, { cause: 'operator', queue: context.queue, newId })
    return judged
  })
  if (flushed.events.length > 0) wake('subscription_events')
  return flushed.results
}

/** Each counter once: most of them have only counted. Both lists are in the same order. */
async function writeCounters(
  db: Kysely<Tables>,
  locked: readonly QuotaCounter[],
  judged: readonly QuotaCounter[],
): Promise<void> {
  const counted: QuotaCounter[] = []
  const others: QuotaCounter[] = []
  judged.forEach((counter, place) => {
    const before = locked[place]
    if (counter === before) return
    const { window, eventNumber } = counter
    const hasOnlyCounted = window === before?.window && eventNumber === before.eventNumber
    ;(hasOnlyCounted ? counted : others).push(counter)
  })
  await updateUsed(db, counted)
  await updateCounters(db, others)
}

/** Each counter once. */
function countersOf(records: readonly UsageRecord[]): readonly CounterKey[] {
  return [...new Map(records.map((record) => [nameOf(record), record])).values()]
}

/** A name of a quota has no blank. */
function nameOf({ subscriptionId, quota }: CounterKey): string {
  return `${subscriptionId} ${quota}`
}

/** Where none is over, nothing is asked. */
export async function moveWindows(
  db: Kysely<Tables>,
  counters: readonly QuotaCounter[],
  now: Date,
): Promise<readonly MovedCounter[]> {
  const over = counters.filter((counter) => isOver(counter, now))
  const ids = [...new Set(over.map(({ subscriptionId }) => subscriptionId))]
  const facts = ids.length === 0 ? undefined : await readWindowFacts(db, ids, now)
  return counters.map((counter) => {
    const known = facts?.get(counter.subscriptionId)
    return known === undefined ? { counter, events: [] } : inWindowOf(counter, known, now)
  })
}

interface CountedKeys {
  standingOf(this: void, record: UsageRecord): KeyStanding
  isWritten(this: void, record: UsageRecord): boolean
}

interface CountedFlush extends Flush {
  readonly moved: readonly MovedCounter[]
  readonly now: Date
}

/**
 * Writes the keys of what may be counted, and says of each key what is known of it. What cannot fit
 * is only looked up: whoever goes on asking beyond a limit leaves no rows behind.
 */
async function countKeys(
  db: Kysely<Tables>,
  { records, moved, now, token, isRepeated }: CountedFlush,
): Promise<CountedKeys> {
  const counters = new Map(moved.map(({ counter }) => [nameOf(counter), counter]))
  const fits = (record: UsageRecord) => {
    const counter = counters.get(nameOf(record))
    return counter !== undefined && !cannotFit(counter, record)
  }
  const found = new Map<string, string>()
  const find = async (keys: readonly UsageRecord[]) => {
    for (const row of await findKeys(db, keys)) found.set(keyOf(row), row.writtenBy)
  }
  await find(isRepeated ? records : records.filter((record) => !fits(record)))
  const wanted = records.filter((record) => fits(record) && !found.has(keyOf(record)))
  const written = new Set(wanted)
  const origin = { countedAt: now, writtenBy: token }
  if ((await insertKeys(db, wanted, origin)) < wanted.length) {
    await find(wanted)
    for (const record of wanted) if (found.get(keyOf(record)) !== token) written.delete(record)
  }
  const standingOf = (record: UsageRecord) => {
    const writtenBy = written.has(record) ? undefined : found.get(keyOf(record))
    if (writtenBy === undefined) return 'new'
    return writtenBy === token ? 'now' : 'before'
  }
  return { standingOf, isWritten: (record) => written.has(record) }
}

function keyOf(record: CounterKey & { readonly key: string }): string {
  return `${nameOf(record)} ${record.key}`
}

interface Judged {
  readonly results: readonly UsageResult[]
  readonly counters: readonly QuotaCounter[]
  readonly events: readonly FiredQuotaEvent[]
  /** Keys that were written, and not counted after all. */
  readonly refused: readonly UsageRecord[]
}

function judge(
  records: readonly UsageRecord[],
  moved: readonly MovedCounter[],
  standingOf: (record: UsageRecord) => KeyStanding,
): Judged {
  const results = new Map<UsageRecord, UsageResult>()
  const groups = Map.groupBy(records, nameOf)
  const refused: UsageRecord[] = []
  const judged = moved.map(({ counter, events }): MovedCounter => {
    const group = groups.get(nameOf(counter)) ?? []
    const judgement = judgeUsage(counter, group, standingOf)
    group.forEach((record, place) => {
      const result = judgement.results[place]
      if (result !== undefined) results.set(record, result)
      if (result?.result === 'refused') refused.push(record)
    })
    return { counter: judgement.counter, events: [...events, ...judgement.events] }
  })
  return {
    results: records.map((record) => results.get(record) ?? { result: 'unknown_quota' }),
    counters: judged.map(({ counter }) => counter),
    events: judged.flatMap(({ events }) => events),
    refused,
  }
}
