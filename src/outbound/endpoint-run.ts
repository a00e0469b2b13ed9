import { setTimeout as pause } from 'node:timers/promises'
import { isPassing } from '../database/failure.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import { createPace } from '../kernel/pace.ts'
import { beginProbe, beginRequests } from './begin-requests.ts'
import { healthAtStart, isOpen } from './breaker.ts'
import { openWindow } from './endpoint-window.ts'
import {
  isProbed,
  mayBegin,
  mostTogether,
  type RunOptions,
  type State,
  type Work,
} from './endpoint-work.ts'
import { flushResults } from './flush-results.ts'
import type { ForwardContext } from './forward-context.ts'
import {
  endpointLease,
  extendEndpoint,
  releaseEndpoint,
  type LeasedEndpoint,
} from './lease-endpoints.ts'

/** An endpoint that this process works on. */
export interface EndpointRun {
  /** There may be something to do: a free slot. */
  wake(): void
  /** The feed may have grown. */
  grown(): void
  /** Begins nothing more, ends what is under way, and gives the endpoint back. */
  stop(): void
  readonly ended: Promise<void>
}

const flushAfter: Duration = 50
/** Timers are late by a little: requests that were not begun in time are made up for. */
const madeUpFor: Duration = 100
const lookEvery = seconds(1)
/** While the database does not answer, what is known is kept for as long as the lease holds. */
const triedFor: Duration = (endpointLease * 2) / 3
const afterFault = seconds(1)
/** With nothing to do, the endpoint is given back: another process may have less to do. */
const idleFor = seconds(10)

/** Sends what an endpoint has still to get, in order, as fast as it takes it. Never rejects. */
export function startEndpointRun(options: RunOptions): EndpointRun {
  const { endpoint, context } = options
  const sleeper = createSleeper()
  const now = performance.now()
  const state: State = {
    health: healthAtStart(endpoint.failures),
    underWay: 0,
    results: [],
    isStopping: false,
    isLost: false,
    mustWrite: false,
    fault: undefined,
    written: { position: BigInt(endpoint.position), at: now },
    heldAt: now,
    begunAt: now,
    busyAt: now,
  }
  const window = openWindow(endpoint, context)
  const { ratePerSecond: rate } = endpoint
  const pace = createPace({ apart: rate === null ? 0 : seconds(1) / rate, madeUpFor })
  const cut = new AbortController()
  const signal = AbortSignal.any([options.signal, cut.signal])
  const work: Work = { ...options, signal, window, pace, state, wake: sleeper.wake }
  return {
    wake: sleeper.wake,
    grown() {
      window.grown()
      sleeper.wake()
    },
    stop() {
      state.isStopping = true
      sleeper.wake()
    },
    // What is still under way then is of an endpoint that somebody else has, or takes soon.
    ended: run(work, sleeper.wait).finally(() => cut.abort()),
  }
}

async function run(work: Work, wait: (length: Duration) => Promise<void>): Promise<void> {
  const { state, context, endpoint, signal } = work
  let faults = 0
  try {
    while (!isOver(work)) {
      try {
        // First: what is known is written, whatever else cannot be read.
        await writeIfDue(work)
        if (mayBegin(state)) await (isOpen(state.health) ? beginProbe(work) : beginRequests(work))
        if (!isOver(work)) await wait(pauseOf(work))
        faults = 0
      } catch (error) {
        if (!isPassing(error) || signal.aborted || !mayTryAgain(state)) throw error
        faults += 1
        const said = { err: error, endpoint: endpoint.name }
        if (faults === 1) context.log.warn(said, 'an endpoint is tried again')
        // No other process sends what was sent here, as long as that can be said.
        const { db } = context.database
        if (state.mustWrite) await extendEndpoint(db, endpoint).catch(() => false)
        await pause(afterFault)
      }
      if (state.fault !== undefined) throw state.fault
    }
    if (!state.isLost && work.window.position !== state.written.position) await write(work)
  } catch (error) {
    // Until the lease runs out: what could not be written is sent again, and that must not go fast.
    context.log.warn({ err: error, endpoint: endpoint.name }, 'an endpoint is left for a while')
    return
  }
  if (!state.isLost) await giveBackEndpoint(endpoint, context)
}

/** Never rejects. */
export async function giveBackEndpoint(
  endpoint: LeasedEndpoint,
  { database, log }: Pick<ForwardContext, 'database' | 'log'>,
): Promise<void> {
  await releaseEndpoint(database.db, endpoint).catch((error: unknown) => {
    log.debug({ err: error, endpoint: endpoint.name }, 'its lease runs out by itself')
  })
}

/**
 * The lease holds; or something is still to be written, which nobody else knows: nothing is sent
 * meanwhile, and whether the endpoint has been taken by another process is seen when it is written.
 */
function mayTryAgain({ heldAt, results }: State): boolean {
  return results.length > 0 || performance.now() - heldAt < triedFor
}

function isOver({ state }: Work): boolean {
  if (state.isLost) return true
  if (state.underWay > 0 || state.results.length > 0) return false
  return !mayBegin(state) || performance.now() - state.busyAt > idleFor
}

/** Until the next write is due, at the latest. */
function pauseOf(work: Work): Duration {
  const { state, pace, window } = work
  if (mayBegin(state) && !isProbed(work) && window.isBehind) return 0
  return state.results.length > 0 ? flushAfter : Math.min(lookEvery, pace.wait() ?? lookEvery)
}

async function writeIfDue(work: Work): Promise<void> {
  const { state, window } = work
  const age = performance.now() - state.written.at
  const hasMoved = window.position !== state.written.position
  const isDue =
    state.mustWrite ||
    state.results.length >= mostTogether ||
    (state.results.length > 0 && age >= flushAfter) ||
    (hasMoved && age >= lookEvery) ||
    age >= endpointLease / 3
  if (isDue) await write(work)
}

async function write({ endpoint, window, state, context }: Work): Promise<void> {
  const { results, health } = state
  const { position } = window
  const ahead = window.ahead()
  const written = { results, position, ahead, health }
  state.mustWrite = true
  const end = await flushResults(endpoint, written, context)
  state.mustWrite = false
  state.results = state.results.slice(results.length)
  window.written(results.map(({ due }) => due))
  state.written = { position, at: performance.now() }
  state.heldAt = state.written.at
  if (end === 'lost') state.isLost = true
  if (end === 'changed') state.isStopping = true
}

/** A pause that can be ended; one that was ended before it began is over at once. */
function createSleeper() {
  let isWoken = false
  let end: (() => void) | undefined
  return {
    wake() {
      isWoken = true
      end?.()
    },
    async wait(length: Duration) {
      if (!isWoken) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, length)
          end = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      isWoken = false
      end = undefined
    },
  }
}
