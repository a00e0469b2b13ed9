import { classifyFailure, isReadOnly } from '../database/failure.ts'
import { usualPatience } from '../database/patience.ts'
import type { Cipher } from '../kernel/encryption.ts'
import type { Duration } from '../kernel/duration.ts'
import { newUuid } from '../kernel/ids.ts'
import { keepUnderWay } from '../kernel/keep-under-way.ts'
import { createLinkedList, type LinkedList } from '../kernel/linked-list.ts'
import type { Log } from '../kernel/log.ts'
import type { Histogram } from '../numbers/slots.ts'
import type { HandOver } from '../queue/hand-over.ts'
import { createDeadlines } from '../kernel/deadlines.ts'
import { asBytes, asLeased, insertCalls, type NewCall, type Queryable } from './insert-calls.ts'

/** `unavailable`: not known to be stored, so the gateway is asked to send it again. */
export type StoreResult = 'stored' | 'unavailable'

export interface CallStore {
  /** Resolves once the call is committed, or when its time is up. Never rejects. */
  store(call: NewCall): Promise<StoreResult>
  /** Waits for what is under way. */
  close(): Promise<void>
}

export interface CallStoreOptions {
  readonly database: Queryable
  readonly log: Log
  /** Flushes under way at once: 2 by default, fewer if the pool has fewer connections. */
  readonly mostFlushes?: number
  /** Within this time every call is answered. */
  readonly deadline?: Duration
  /** Calls waiting for their answer at most; further ones are refused at once. */
  readonly mostWaiting?: number
  /** The same for the bytes of their bodies. */
  readonly mostWaitingBytes?: number
  /** For the bytes of a call that the database refuses as it is. */
  readonly cipher?: Cipher | undefined
  /** Called once calls are committed; must not throw. */
  readonly announce?: () => void
  /** Counts what the database does. */
  readonly counts?: StoreCounts | undefined
  /** Who takes calls at once, as soon as they are committed. */
  readonly handOver?: () => HandOver | undefined
}

export interface StoreCounts {
  readonly flush: Histogram
  /** A flush whose answer was lost was committed, or was not. */
  decided(resolution: 'committed' | 'not_committed'): void
}

/** Rows and bytes of one flush at most. */
const mostRows = 500
const mostBytes = 8 * 1024 * 1024
const mostWaitingBytesByDefault = 64 * 1024 * 1024
/** While the calls of one are answered, the server stores the next; and one may hang. */
const twoFlushes = 2
/**
 * Fewer calls cost less in the next flush than in one of their own beside another. A process that only
 * stores calls would stand still during each commit if it waited for many more, where few senders wait
 * for their answers. A process that also processes them has other work then.
 */
const manyRows = { storing: 12, alsoProcessing: 64 } as const
/** Many times as long as a flush takes on a healthy server. */
const slowFlush: Duration = 100

interface WaitingCall {
  readonly call: NewCall
  /** Answers it; the first answer counts. */
  answer(result: StoreResult): void
  answered: boolean
}

/**
 * Group commit: while flushes are under way, calls gather; the next flush takes them all in one
 * transaction. A call alone is stored at once.
 */
export function createCallStore(options: CallStoreOptions): CallStore {
  const { mostWaiting = 5_000, mostWaitingBytes = mostWaitingBytesByDefault } = options
  const { deadline = usualPatience.answering } = options
  /** Not taken by a flush yet, in order of arrival. */
  const queue = createLinkedList<WaitingCall>()
  const unanswered = { calls: 0, bytes: 0 }
  const deadlines = createDeadlines<WaitingCall>(deadline, (entry) => entry.answer('unavailable'))
  const { mostFlushes = twoFlushes } = options
  const flushes = keepUnderWay(
    mostFlushes,
    ({ isBeside, slow }) => {
      const least = options.handOver?.() === undefined ? manyRows.storing : manyRows.alsoProcessing
      if (queue.size < (isBeside ? least : 1)) return undefined
      // Many are shared with the flush beside it. While one is slow, nothing is left for it.
      const shares = slow > 0 ? 1 : mostFlushes
      return flushBatch(takeBatch(queue, { least, shares }), options)
    },
    slowFlush,
  )

  function wait(call: NewCall, answer: (result: StoreResult) => void): void {
    const entry: WaitingCall = {
      call,
      answered: false,
      answer(result) {
        if (entry.answered) return
        entry.answered = true
        deadlines.delete(due)
        // When its time is up, a call has been answered: nothing of it is kept.
        queue.remove(place)
        unanswered.calls -= 1
        unanswered.bytes -= call.size
        answer(result)
      },
    }
    unanswered.calls += 1
    unanswered.bytes += call.size
    const due = deadlines.add(entry)
    const place = queue.append(entry)
  }

  return {
    store(call) {
      if (unanswered.calls >= mostWaiting || unanswered.bytes >= mostWaitingBytes) {
        options.log.warn({ waiting: unanswered }, 'too many calls wait for the database')
        return Promise.resolve('unavailable')
      }
      return new Promise((answer) => {
        wait(call, answer)
        flushes.advance()
      })
    },
    close: () => flushes.ended(),
  }
}

/** The one that has waited longest first. */
function takeBatch(
  queue: LinkedList<WaitingCall>,
  { least, shares }: { readonly least: number; readonly shares: number },
): readonly WaitingCall[] {
  const most = Math.min(mostRows, Math.max(least, queue.size / shares))
  const batch: WaitingCall[] = []
  let bytes = 0
  while (queue.first !== undefined && batch.length < most && bytes < mostBytes) {
    const { item: entry } = queue.first
    queue.remove(queue.first)
    batch.push(entry)
    bytes += entry.call.size
  }
  return batch
}

async function flushBatch(batch: readonly WaitingCall[], options: CallStoreOptions): Promise<void> {
  const handing = planHandOver(batch, options.handOver?.())
  try {
    await insert(batch, options, (call) => handing.leased.get(call) ?? call)
    for (const entry of batch) entry.answer('stored')
    const given = handing.give()
    if (handing.leased.size < batch.length) options.announce?.()
    await given
  } catch (error) {
    if (classifyFailure(error) !== 'data') {
      answerFailed(batch, options, error)
      // A commit whose answer was lost may have stored them all the same.
      return handing.release()
    }
    // One of them is at fault; its neighbours must not suffer for it.
    for (const entry of batch) if (!entry.answered) await flushAlone(entry, options)
  }
}

async function flushAlone(entry: WaitingCall, options: CallStoreOptions): Promise<void> {
  const alone = [entry]
  try {
    await insert(alone, options).catch(async (error: unknown) => {
      if (classifyFailure(error) !== 'data') throw error
      options.log.warn({ err: error, call: entry.call.id }, 'call refused; its bytes are stored')
      await insert(alone, options, (call) => asBytes(call, options.cipher))
    })
    entry.answer('stored')
    options.announce?.()
  } catch (error) {
    answerFailed(alone, options, error)
  }
}

const mostTries = 3

/**
 * Tries again while somebody waits. That also decides a commit whose fate is unknown: the same ids
 * again either conflict with themselves (after waiting for a commit still under way) or go in now.
 */
async function insert(
  batch: readonly WaitingCall[],
  { database, counts }: Pick<CallStoreOptions, 'database' | 'counts'>,
  rowOf: (call: NewCall) => NewCall = (call) => call,
): Promise<void> {
  const rows = batch.map((entry) => rowOf(entry.call))
  let isUnknown = false
  for (let tries = 1; ; tries += 1) {
    try {
      const begun = performance.now()
      const added = await insertCalls(database, rows)
      counts?.flush.observe((performance.now() - begun) / 1000)
      if (isUnknown) counts?.decided(added === 0 ? 'committed' : 'not_committed')
      return
    } catch (error) {
      isUnknown ||= classifyFailure(error) === 'lost'
      const final = tries === mostTries || !mayPass(error) || !batch.some(isWaiting)
      if (final) throw error
    }
  }
}

/**
 * Faulty values stay faulty, and a server without room says so at once. A server that refuses
 * writes loses its connection: the next one may lead to the primary.
 */
function mayPass(error: unknown): boolean {
  if (isReadOnly(error)) return true
  const kind = classifyFailure(error)
  return kind === 'transient' || kind === 'lost' || kind === 'other'
}

/** Not known to be stored: refused, and the gateway's repetition is harmless. */
function answerFailed(
  batch: readonly WaitingCall[],
  options: CallStoreOptions,
  error: unknown,
): void {
  for (const entry of batch) entry.answer('unavailable')
  options.log.error({ err: error, calls: batch.length }, 'storing calls failed')
}

/** Which calls of a flush go to a worker of this process as they are stored: they go in leased. */
function planHandOver(batch: readonly WaitingCall[], worker: HandOver | undefined) {
  const leased = new Map<NewCall, NewCall & { readonly leaseToken: string }>()
  const room = worker?.room() ?? 0
  const leaseToken = newUuid()
  for (const { call } of batch) {
    if (leased.size >= room) break
    if (call.leaseToken === null && worker?.wants(call)) leased.set(call, { ...call, leaseToken })
  }
  const give = async () => {
    if (leased.size === 0) return
    await worker?.give(Array.from(leased.values(), (call) => asLeased(call, call.leaseToken)))
  }
  const release = async () => {
    if (leased.size > 0) await worker?.release(leaseToken)
  }
  return { leased, give, release }
}

function isWaiting(entry: WaitingCall): boolean {
  return !entry.answered
}
