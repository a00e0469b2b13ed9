import type pg from 'pg'
import { classifyFailure } from '../database/failure.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import { asBytes, insertCalls, type NewCall } from './insert-calls.ts'

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
  /** Calls waiting for their answer at most; beyond it they are turned away at once. */
  readonly mostWaiting?: number
  /** Likewise the bytes of their bodies. */
  readonly mostWaitingBytes?: number
  /** Flushes under way at most. */
  readonly flushes?: number
}

/** Rows and bytes of one flush at most: below the limit of 65,535 parameters, and of memory. */
const mostRows = 500
const mostBytes = 8 * 1024 * 1024
const mostWaitingBytesByDefault = 64 * 1024 * 1024

interface Waiting {
  readonly call: NewCall
  /** Answers it; the first answer counts. */
  settle(result: StoreResult): void
  settled: boolean
}

/**
 * Group commit: while flushes are under way, calls gather; the next flush takes them all in one
 * transaction. A call alone is stored at once, without any added wait.
 */
export function createCallStore(options: CallStoreOptions): CallStore {
  const { mostWaiting = 5_000, mostWaitingBytes = mostWaitingBytesByDefault, flushes = 2 } = options
  /** Not taken by a flush yet, in the order of their coming. */
  const queue = new Set<Waiting>()
  const unanswered = { calls: 0, bytes: 0 }
  const underWay = new Set<Promise<void>>()

  function flushWhatWaits(): void {
    while (underWay.size < flushes && queue.size > 0) {
      const flush = flushBatch(takeBatch(queue), options).finally(() => {
        underWay.delete(flush)
        flushWhatWaits()
      })
      underWay.add(flush)
    }
  }

  return {
    store(call) {
      if (unanswered.calls >= mostWaiting || unanswered.bytes >= mostWaitingBytes) {
        options.log.warn({ waiting: unanswered }, 'too many calls wait for the database')
        return Promise.resolve('unavailable')
      }
      const { entry, answer } = startWaiting(call, options.deadline ?? seconds(2))
      unanswered.calls += 1
      unanswered.bytes += call.bytes.length
      queue.add(entry)
      flushWhatWaits()
      return answer.finally(() => {
        // Whose time is up has had his answer: nothing of his is kept.
        queue.delete(entry)
        unanswered.calls -= 1
        unanswered.bytes -= call.bytes.length
      })
    },
    async close() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

function startWaiting(
  call: NewCall,
  deadline: Duration,
): { readonly entry: Waiting; readonly answer: Promise<StoreResult> } {
  const { promise: answer, resolve } = Promise.withResolvers<StoreResult>()
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
  return { entry, answer }
}

/** The longest waiting first. */
function takeBatch(queue: Set<Waiting>): readonly Waiting[] {
  const batch: Waiting[] = []
  let bytes = 0
  for (const entry of queue) {
    if (batch.length === mostRows || bytes >= mostBytes) break
    queue.delete(entry)
    batch.push(entry)
    bytes += entry.call.bytes.length
  }
  return batch
}

async function flushBatch(batch: readonly Waiting[], options: CallStoreOptions): Promise<void> {
  try {
    await insert(batch, options.pool)
    settleStored(batch)
  } catch (error) {
    if (classifyFailure(error) !== 'data') return settleFailed(batch, options, error)
    // One of them is at fault; its neighbours must not suffer for it.
    for (const entry of batch) if (!entry.settled) await flushAlone(entry, options)
  }
}

async function flushAlone(entry: Waiting, options: CallStoreOptions): Promise<void> {
  const alone = [entry]
  try {
    await insert(alone, options.pool).catch(async (error: unknown) => {
      if (classifyFailure(error) !== 'data') throw error
      options.log.warn({ err: error, call: entry.call.id }, 'call refused; its bytes are stored')
      await insert(alone, options.pool, asBytes)
    })
    settleStored(alone)
  } catch (error) {
    settleFailed(alone, options, error)
  }
}

const mostTries = 3

/**
 * Tries again while somebody waits. That also settles a commit whose fate is unknown: the same ids
 * again either conflict with themselves (after waiting for a commit still under way) or go in now.
 */
async function insert(
  batch: readonly Waiting[],
  pool: CallStoreOptions['pool'],
  rowOf: (call: NewCall) => NewCall = (call) => call,
): Promise<void> {
  const rows = batch.map((entry) => rowOf(entry.call))
  for (let tries = 1; ; tries += 1) {
    try {
      return await insertCalls(pool, rows)
    } catch (error) {
      const final = tries === mostTries || !mayPass(error) || !batch.some(isWaiting)
      if (final) throw error
    }
  }
}

/** Values at fault stay at fault, and a server that cannot write says so at once. */
function mayPass(error: unknown): boolean {
  const kind = classifyFailure(error)
  return kind === 'transient' || kind === 'lost' || kind === 'other'
}

/** Not known to be stored: turned away, and the gateway's repetition is harmless. */
function settleFailed(batch: readonly Waiting[], options: CallStoreOptions, error: unknown): void {
  options.log.error({ err: error, calls: batch.length }, 'storing calls failed')
  for (const entry of batch) entry.settle('unavailable')
}

function settleStored(batch: readonly Waiting[]): void {
  for (const entry of batch) entry.settle('stored')
}

function isWaiting(entry: Waiting): boolean {
  return !entry.settled
}
