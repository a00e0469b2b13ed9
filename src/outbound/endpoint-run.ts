import {
  extendEndpoint,
  releaseEndpoint,
  type LeasedEndpoint,
} from '../database/lease-endpoints.ts'
import { hours, seconds, type Duration } from '../kernel/duration.ts'
import { scrubber, secret, type Secret } from '../kernel/secret.ts'
import { gatewayOf, type FeedEvent } from '../wire/outgoing-event.ts'
import { createAlarm } from './alarm.ts'
import { bodyOf } from './body.ts'
import { healthAfter, healthAtStart, isOpen, type Health } from './breaker.ts'
import { openWindow, type Due, type EndpointWindow } from './endpoint-window.ts'
import { flushResults, type Result } from './flush-results.ts'
import type { ForwardContext } from './forward-context.ts'
import { createPace, type Pace } from './pace.ts'
import { loadFeed } from './read-feed.ts'
import { send } from './send.ts'
import { signedHeaders } from './sign.ts'
import type { Slots } from './slots.ts'

/** An endpoint that this process works on. */
export interface EndpointRun {
  /** There may be something to do: a free slot. */
  wake(): void
  /** The feed may have grown. */
  grown(): void
  /** Begins nothing more, ends what is under way, and lets go of the endpoint. */
  stop(): void
  readonly ended: Promise<void>
}

export interface RunOptions {
  readonly endpoint: LeasedEndpoint
  /** The newest first; all of them sign. */
  readonly secrets: readonly Secret[]
  readonly slots: Slots
  readonly context: ForwardContext
  /** Cuts off what is still under way; what it did is not known then. */
  readonly signal: AbortSignal
}

/** A lease is for so long, and extended after a third of it at the latest. */
export const endpointLease = seconds(30)
/** Results that are written together, at most, and events that are loaded together to be sorted out. */
const mostTogether = 32
const flushAfter: Duration = 50
const lookEvery = seconds(1)
/** A lease is believed in for so long. */
const trustedFor: Duration = 200
/** Then it begins anew: which secrets sign depends on the time. */
const longestRun = hours(1)
/** With nothing to do, the endpoint is given back: another process may have less to do. */
const idleFor = seconds(10)

interface Work extends RunOptions {
  readonly window: EndpointWindow
  readonly pace: Pace
  readonly state: State
  wake(): void
}

interface State {
  health: Health
  underWay: number
  results: readonly Result[]
  /** Begins nothing more. */
  isStopping: boolean
  /** Somebody else has the endpoint. */
  isLost: boolean
  /** What should never be thrown: it ends the work. */
  fault: unknown
  written: { position: bigint; at: number }
  /** When it was last seen that the lease is ours. */
  heldAt: number
  readonly begunAt: number
  busyAt: number
}

/** Sends what an endpoint has still to get, in order, as fast as it takes it. Never rejects. */
export function startEndpointRun(options: RunOptions): EndpointRun {
  const { endpoint, context } = options
  const alarm = createAlarm()
  const now = performance.now()
  const state: State = {
    health: healthAtStart(endpoint.failures),
    underWay: 0,
    results: [],
    isStopping: false,
    isLost: false,
    fault: undefined,
    written: { position: BigInt(endpoint.position), at: now },
    heldAt: now,
    begunAt: now,
    busyAt: now,
  }
  const window = openWindow(endpoint, context)
  const pace = createPace(endpoint.ratePerSecond)
  const work: Work = { ...options, window, pace, state, wake: alarm.ring }
  return {
    wake: alarm.ring,
    grown() {
      window.grown()
      alarm.ring()
    },
    stop() {
      state.isStopping = true
      alarm.ring()
    },
    ended: run(work, alarm.wait),
  }
}

async function run(work: Work, wait: (length: Duration) => Promise<void>): Promise<void> {
  const { state, context, endpoint } = work
  try {
    while (!isOver(work)) {
      if (mayBegin(state)) await (isOpen(state.health) ? beginProbe(work) : begin(work))
      await writeIfDue(work)
      if (!isOver(work)) await wait(pauseOf(work))
      if (state.fault !== undefined) throw state.fault
    }
    if (!state.isLost && work.window.position !== state.written.position) await write(work)
  } catch (error) {
    // Until the lease runs out: what could not be written is sent again, and that must not go fast.
    context.log.warn({ err: error, endpoint: endpoint.name }, 'an endpoint is left for a while')
    return
  }
  if (state.isLost) return
  await releaseEndpoint(context.database.db, endpoint).catch((error: unknown) => {
    context.log.debug({ err: error, endpoint: endpoint.name }, 'its lease runs out by itself')
  })
}

function mayBegin({ health, isStopping, isLost }: State): boolean {
  return !isStopping && !isLost && health.rest === undefined
}

function isOver({ state }: Work): boolean {
  if (state.isLost) return true
  if (state.underWay > 0 || state.results.length > 0) return false
  return !mayBegin(state) || performance.now() - state.busyAt > idleFor
}

/** Until the next write is due, at the latest. */
function pauseOf({ state, pace, window }: Work): Duration {
  if (mayBegin(state) && window.isBehind) return 0
  return state.results.length > 0 ? flushAfter : Math.min(lookEvery, pace.pause() ?? lookEvery)
}

/** As many requests as the endpoint, this process and its rate allow. */
async function begin(work: Work): Promise<void> {
  const { state, window, slots, pace, endpoint } = work
  await window.refill()
  if (window.isBehind) state.busyAt = performance.now()
  if (!window.hasMore || !(await isStillOurs(work))) return
  const isFree = () => state.underWay < state.health.slots && pace.mayBegin()
  while (mayBegin(state) && isFree()) {
    const free = state.health.slots - state.underWay
    const dues = window.next(endpoint.gateways === null ? free : Math.max(free, mostTogether))
    if (dues.length === 0) return
    const wanted = await loadWanted(work, dues)
    const isFailing = state.health.failures > 0
    const sent = wanted.filter((one) => {
      if (!isFree() || !slots.take(isFailing)) return false
      pace.begin()
      start(work, { ...one, isProbe: false }, isFailing)
      return true
    })
    // The first of them comes first again.
    for (const one of wanted.toReversed()) if (!sent.includes(one)) window.putBack(one.due)
    if (sent.length < wanted.length) return
  }
}

/** The one request to an endpoint that has failed so often; with its success all goes on. */
async function beginProbe(work: Work): Promise<void> {
  const { state, window, slots, wake } = work
  if (state.underWay > 0 || state.results.length > 0 || !(await isStillOurs(work))) return
  const due = await window.probe(state.health.failures)
  if (due === undefined) {
    // Nothing is left for it, and it is not known to be well.
    if (!window.isBehind) state.isStopping = true
    return
  }
  const [wanted] = await loadWanted(work, [due])
  // It was not for this endpoint: the next one may be.
  if (wanted === undefined) wake()
  else if (slots.take(true)) start(work, { ...wanted, isProbe: true }, true)
  else window.putBack(due)
}

/** Whoever switches it off, or back, or changes it, is heeded soon. */
async function isStillOurs({ state, endpoint, context }: Work): Promise<boolean> {
  if (performance.now() - state.heldAt < trustedFor) return true
  const isHeld = await extendEndpoint(context.database.db, endpoint, endpointLease)
  state.heldAt = performance.now()
  // What was delivered until then is still to be written.
  if (!isHeld || state.heldAt - state.begunAt > longestRun) state.isStopping = true
  return !state.isStopping
}

interface Wanted {
  readonly due: Due
  readonly event: FeedEvent
}

/** With what they say; those that are not for this endpoint are passed over. */
async function loadWanted(work: Work, dues: readonly Due[]): Promise<readonly Wanted[]> {
  const { window, context } = work
  const rows = dues.map(({ row }) => row)
  const events = await loadFeed({ ...context, db: context.database.db }, rows)
  return dues.flatMap((due, index) => {
    const event = events[index]
    if (event !== undefined && isForIt(work, due, event)) return [{ due, event }]
    window.pass(due)
    return []
  })
}

/** What is sent again was found to be for it once, or somebody wants it to have that. */
function isForIt({ endpoint: { gateways } }: Work, { isAgain }: Due, event: FeedEvent): boolean {
  if (isAgain) return true
  const gateway = gatewayOf(event)
  return gateways === null || (gateway !== undefined && gateways.includes(gateway))
}

interface EventRequest extends Wanted {
  readonly isProbe: boolean
}

/** Its slot is taken. */
function start(work: Work, request: EventRequest, isFailing: boolean): void {
  const { state, slots, wake } = work
  state.underWay += 1
  void sendOne(work, request)
    .catch((error: unknown) => (state.fault = error))
    .finally(() => {
      state.underWay -= 1
      slots.leave(isFailing)
      wake()
    })
}

async function sendOne(work: Work, { due, event, isProbe }: EventRequest): Promise<void> {
  const { endpoint, secrets, context, signal, state, window } = work
  state.busyAt = performance.now()
  const body = bodyOf(event, endpoint.payload)
  const headers = { ...signedHeaders({ id: event.id, body }, secrets, context.now()) }
  const timeout = seconds(endpoint.timeoutSeconds)
  const sent = await send(
    { url: endpoint.url, headers, body, timeout },
    context.connections,
    signal,
  )
  state.busyAt = performance.now()
  // Cut off by us: nothing is known of it, and it is sent again.
  const isUnknown = signal.aborted && sent.result !== 'delivered'
  if (isUnknown) return window.putBack(due)
  state.health = healthAfter(state.health, sent, endpoint.maxConcurrency)
  state.results = [...state.results, { due, sent, isProbe }]
  window.end(due, sent.result === 'delivered' || !isProbe)
}

async function writeIfDue(work: Work): Promise<void> {
  const { state, window } = work
  const age = performance.now() - state.written.at
  const hasMoved = window.position !== state.written.position
  const isDue =
    state.results.length >= mostTogether ||
    (state.results.length > 0 && age >= flushAfter) ||
    (hasMoved && age >= lookEvery) ||
    age >= endpointLease / 3
  if (isDue) await write(work)
}

async function write({ endpoint, secrets, window, state, context }: Work): Promise<void> {
  const { results, health } = state
  const { position } = window
  const ahead = window.ahead()
  const written = { results, position, ahead, health, lease: endpointLease }
  const end = await flushResults(endpoint, written, {
    ...context,
    scrub: scrubOf(secrets, context),
  })
  state.results = state.results.slice(results.length)
  window.written(results.map(({ due }) => due))
  state.written = { position, at: performance.now() }
  state.heldAt = state.written.at
  if (end === 'lost') state.isLost = true
  if (end === 'changed') state.isStopping = true
}

/** What an endpoint answers may repeat its own secret. */
function scrubOf(secrets: readonly Secret[], { scrub }: ForwardContext): (text: string) => string {
  const keys = secrets.map((one) => secret(one.reveal().replace(/^whsec_/, '')))
  const scrubOwn = scrubber(keys)
  return (text) => scrub(scrubOwn(text))
}
