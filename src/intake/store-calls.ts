import type pg from 'pg'
import { classifyFailure } from '../database/failure.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import { asBytes, findStored, insertCalls, type NewCall } from './insert-calls.ts'

/** `unavailable`: not known to be stored, so the gateway is asked to come again. */
export type StoreResult = 'stored' | 'unavailable'

export interface CallStore {
  /** Resolves once the call is committed, or when its time is up. Never rejects. */
  store(call: NewCall): Promise<StoreResult>
  /** Waits for what is under way. */
  close(): Promise<void>
}

export interface CallStoreOptions {
  readonly pool: Pick<pg.Pool, 'query'>
  readonly log: Log
  /** Within this time every call is answered. */
  readonly deadline?: Duration
  /** Calls waiting at most; beyond it they are turned away at once. */
  readonly mostWaiting?: number
  /** Flushes under way at most. */
  readonly flushes?: number
}

/** Rows and bytes of one flush at most: below the limit of 65,535 parameters, and of memory. */
const mostRows = 500
const mostBytes = 8 * 1024 * 1024

interface Waiting {
  readonly call: NewCall
  readonly settle: (result: StoreResult) => void
  settled: boolean
}

/**
 * Group commit: while flushes are under way, calls gather; the next flush takes them all in one
 * transaction. A call alone is stored at once, without any added wait.
 */
export function createCallStore(options: CallStoreOptions): CallStore {
  const { deadline = seconds(2), mostWaiting = 5_000, flushes = 2 } = options
  const waiting: Waiting[] = []
  const underWay = new Set<Promise<void>>()

  function flushWhatWaits(): void {
    while (underWay.size < flushes && waiting.length > 0) {
      const batch = takeBatch(waiting)
      if (batch.length === 0) continue
      const flush = flushBatch(batch, options).finally(() => {
        underWay.delete(flush)
        flushWhatWaits()
      })
      underWay.add(flush)
    }
  }

  return {
    store(call) {
      if (waiting.length >= mostWaiting) {
        options.log.warn({ waiting: waiting.length }, 'too many calls wait for the database')
        return Promise.resolve('unavailable')
      }
      return new Promise((resolve) => {
        const entry = startWaiting(call, resolve, deadline)
        waiting.push(entry)
        flushWhatWaits()
      })
    },
    async close() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

function startWaiting(
  call: NewCall,
  resolve: (result: StoreResult) => void,
  deadline: Duration,
): Waiting {
  const entry: Waiting = {
    call,
    settled: false,
    settle(result) {
      clearTimeout(timer)
      entry.settled = true
      resolve(result)
    },
  }
  const timer = setTimeout(() => entry.settle('unavailable'), deadline)
  return entry
}

/** The longest waiting first; those whose time was up have had their answer. */
function takeBatch(waiting: Waiting[]): readonly Waiting[] {
  const batch: Waiting[] = []
  let bytes = 0
  while (batch.length < mostRows && bytes < mostBytes) {
    const entry = waiting.shift()
    if (entry === undefined) break
    if (entry.settled) continue
    batch.push(entry)
    bytes += entry.call.bytes.length
  }
  return batch
}

async function flushBatch(batch: readonly Waiting[], options: CallStoreOptions): Promise<void> {
  try {
    await insertWithRetry(options, batch.map(callOf))
    for (const entry of batch) entry.settle('stored')
  } catch (error) {
    if (classifyFailure(error) === 'data') {
      // One of them is at fault; its neighbours must not suffer for it.
      for (const entry of batch) await flushAlone(entry, options)
    } else {
      await settleUnknown(batch, options, error)
    }
  }
}

async function flushAlone(entry: Waiting, options: CallStoreOptions): Promise<void> {
  try {
    await insertWithRetry(options, [entry.call]).catch(async (error: unknown) => {
      if (classifyFailure(error) !== 'data') throw error
      options.log.warn({ err: error, call: entry.call.id }, 'payload refused; its bytes are stored')
      await insertWithRetry(options, [asBytes(entry.call)])
    })
    entry.settle('stored')
  } catch (error) {
    await settleUnknown([entry], options, error)
  }
}

const transientTries = 3

async function insertWithRetry(
  options: CallStoreOptions,
  calls: readonly NewCall[],
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await insertCalls(options.pool, calls)
    } catch (error) {
      if (classifyFailure(error) !== 'transient' || tries >= transientTries) throw error
    }
  }
}

/**
 * The commit failed or its fate is unknown: whoever is found in the database is stored. Not to be
 * found is no proof, so the rest are turned away; the gateway's repetition is harmless.
 */
async function settleUnknown(
  batch: readonly Waiting[],
  options: CallStoreOptions,
  error: unknown,
): Promise<void> {
  options.log.error({ err: error, calls: batch.length }, 'storing calls failed')
  const ids = batch.map((entry) => entry.call.id)
  const stored =
    classifyFailure(error) === 'lost'
      ? await findStored(options.pool, ids).catch(() => new Set<string>())
      : new Set<string>()
  for (const entry of batch) {
    entry.settle(stored.has(entry.call.id) ? 'stored' : 'unavailable')
  }
}

function callOf(entry: Waiting): NewCall {
  return entry.call
}
