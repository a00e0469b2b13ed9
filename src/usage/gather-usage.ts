import { classifyFailure, isReadOnly } from '../database/failure.ts'
import { createDeadlines } from '../kernel/deadlines.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { keepUnderWay } from '../kernel/keep-under-way.ts'
import type { Log } from '../kernel/log.ts'
import type { UsageResult } from '../subscriptions/judge-usage.ts'
import { flushUsage, type UsageContext } from './flush-usage.ts'
import type { UsageRecord } from './usage-input.ts'

/** Gathers what is recorded at the same time, and counts it together. */
export interface UsageGatherer {
  /** Resolves once it is committed. Error: `usage_unavailable`. */
  record(records: readonly UsageRecord[]): Promise<readonly UsageResult[]>
  /** Waits for what is under way. */
  close(): Promise<void>
}

export interface GatheringOptions extends UsageContext {
  readonly log: Log
  /** Records that wait for their answer at most; further ones are refused at once. */
  readonly mostWaiting?: number
  /** Within this time everything is answered. */
  readonly deadline?: Duration
}

/** Records of one flush at most. */
const mostRecords = 1000
const usuallyWaiting = 50_000

interface WaitingRecord {
  readonly record: UsageRecord
  answer(result: UsageResult): void
  refuse(error: Error): void
  isAnswered: boolean
}

/** The same key, recorded several times at once in the same way: one decision is for all of them. */
interface Batched {
  readonly record: UsageRecord
  readonly waiting: readonly WaitingRecord[]
}

/**
 * Group commit: while a flush is under way, records gather; the next flush counts them all in one
 * transaction. A record alone is counted at once. One flush at a time: two would wait for each other
 * at the counter that everybody uses.
 */
export function createUsageGathering(options: GatheringOptions): UsageGatherer {
  const { mostWaiting = usuallyWaiting, log } = options
  const entries = createEntries(options.deadline ?? seconds(5))
  /** Not taken by a flush yet, in order of arrival. */
  let queue: WaitingRecord[] = []
  const flushes = keepUnderWay(1, () => {
    const { batch, rest } = takeBatch(queue.filter(({ isAnswered }) => !isAnswered))
    queue = rest
    return batch.length === 0 ? undefined : flushBatch(batch, options)
  })
  return {
    async record(records) {
      if (entries.unanswered() + records.length > mostWaiting) {
        log.warn({ waiting: entries.unanswered() }, 'too much usage waits for the database')
        throw tooMany()
      }
      const made = records.map(entries.make)
      queue.push(...made.map(({ waiting }) => waiting))
      flushes.advance()
      const results = await Promise.allSettled(made.map(({ answered }) => answered))
      return results.map((one) => {
        if (one.status === 'rejected') throw one.reason as Error
        return one.value
      })
    },
    close: () => flushes.ended(),
  }
}

/** Records that wait for an answer; the first one counts, and comes in time. */
function createEntries(deadline: Duration) {
  let unanswered = 0
  const deadlines = createDeadlines<WaitingRecord>(deadline, (one) => one.refuse(tooLate()))
  const make = (record: UsageRecord) => {
    const { promise: answered, resolve, reject } = Promise.withResolvers<UsageResult>()
    const end = (how: () => void) => {
      if (waiting.isAnswered) return
      waiting.isAnswered = true
      unanswered -= 1
      deadlines.delete(due)
      how()
    }
    const waiting: WaitingRecord = {
      record,
      isAnswered: false,
      answer: (result) => end(() => resolve(result)),
      refuse: (error) => end(() => reject(error)),
    }
    unanswered += 1
    const due = deadlines.add(waiting)
    return { waiting, answered }
  }
  return { make, unanswered: () => unanswered }
}

/** The longest waiting first. A key that comes again in another way waits for the next flush. */
function takeBatch(queue: readonly WaitingRecord[]): {
  readonly batch: readonly Batched[]
  readonly rest: WaitingRecord[]
} {
  const batch = new Map<string, Batched & { readonly waiting: WaitingRecord[] }>()
  const rest: WaitingRecord[] = []
  let looked = 0
  for (const one of queue) {
    // What waits behind a full flush is not looked at: that may be tens of thousands.
    if (batch.size === mostRecords) break
    looked += 1
    const { record } = one
    const name = `${record.subscriptionId} ${record.quota} ${record.key}`
    const known = batch.get(name)
    if (known === undefined) batch.set(name, { record, waiting: [one] })
    else if (isSame(known.record, record)) known.waiting.push(one)
    else rest.push(one)
  }
  return { batch: [...batch.values()], rest: rest.concat(queue.slice(looked)) }
}

function isSame(one: UsageRecord, other: UsageRecord): boolean {
  return one.units === other.units && one.enforce === other.enforce
}

/** Never rejects. */
async function flushBatch(batch: readonly Batched[], options: GatheringOptions): Promise<void> {
  try {
    const results = await flush(batch, options)
    batch.forEach(({ waiting }, place) => answer(waiting, results[place]))
  } catch (error) {
    options.log.error({ err: error, records: batch.length }, 'recording usage failed')
    for (const { waiting } of batch) for (const one of waiting) one.refuse(unavailable(error))
  }
}

/** The first has counted; the others found its key. */
function answer(waiting: readonly WaitingRecord[], result: UsageResult | undefined): void {
  if (result === undefined) throw new Error('a record has no result')
  waiting.forEach((one, place) => {
    const isRepeated = place > 0 && result.result === 'counted'
    one.answer(isRepeated ? { ...result, result: 'duplicate' } : result)
  })
}

const mostTries = 3

/**
 * Tries again while somebody waits. That also decides a commit whose fate is unknown: the same keys
 * again are found, with the token of this flush, or go in now.
 */
async function flush(
  batch: readonly Batched[],
  options: GatheringOptions,
): Promise<readonly UsageResult[]> {
  const records = batch.map(({ record }) => record)
  const token = options.processing.newId()
  for (let tries = 1; ; tries += 1) {
    try {
      return await flushUsage({ records, token, isRepeated: tries > 1 }, options)
    } catch (error) {
      const isAwaited = batch.some(({ waiting }) => waiting.some((one) => !one.isAnswered))
      if (tries === mostTries || !mayPass(error) || !isAwaited) throw error
    }
  }
}

function mayPass(error: unknown): boolean {
  const kind = classifyFailure(error)
  return kind === 'transient' || kind === 'lost' || isReadOnly(error)
}

function tooMany(): QuittanceError {
  const text = 'too much usage waits for the database already: none of this was counted'
  return new QuittanceError('usage_unavailable', text)
}

function tooLate(): QuittanceError {
  return new QuittanceError('usage_unavailable', 'the database does not answer in time')
}

function unavailable(cause: unknown): QuittanceError {
  const text = 'usage could not be recorded, as far as we know'
  return new QuittanceError('usage_unavailable', text, { cause })
}
