import { extendEndpoint } from './lease-endpoints.ts'
import { hours, seconds, type Duration } from '../kernel/duration.ts'
import { inSpan, type SpanAbout } from '../kernel/spans.ts'
import { eventAttributes } from '../listeners/event-spans.ts'
import type { FeedEvent } from '../wire/outgoing-event.ts'
import { bodyOf } from './body.ts'
import { healthAfter } from './breaker.ts'
import type { Due } from './endpoint-window.ts'
import { isProbed, mayBegin, mostTogether, type Work } from './endpoint-work.ts'
import { isDealtWith } from './flush-results.ts'
import { isOfGateway, loadFeed, type LoadedEvent } from './read-feed.ts'
import { scrubOf } from './scrub-answer.ts'
import { send, type Sent } from './send.ts'
import { signedHeaders } from './sign.ts'

/** A lease is believed in for so long. */
const trustedFor: Duration = 200
/** Then it begins anew: which secrets sign depends on the time. */
const longestRun = hours(1)

/**
 * As many requests as the endpoint, this process and its rate allow; none while results wait that are
 * due to be written. An endpoint may answer faster than events are loaded: what is sent again after a
 * crash would grow without an end.
 */
export async function beginRequests(work: Work): Promise<void> {
  const { state, window, slots, pace, endpoint } = work
  if (!(await window.refill())) state.isStopping = true
  if (window.isBehind) state.busyAt = performance.now()
  if (!window.hasMore || !(await isStillOurs(work))) return
  const isFree = () => {
    const isRoom = state.underWay < state.health.slots && state.results.length < mostTogether
    return mayBegin(state) && isRoom && pace.room() > 0
  }
  while (isFree()) {
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
export async function beginProbe(work: Work): Promise<void> {
  const { state, window, slots, wake } = work
  if (isProbed(work) || !(await isStillOurs(work))) return
  const due = await window.probe(state.health.failures)
  if (due === undefined) {
    // Nothing is left for it, and it is not known to be well.
    if (!window.isBehind) state.isStopping = true
    return
  }
  const [wanted] = await loadWanted(work, [due])
  // It was not for this endpoint: the next one may be.
  if (wanted === undefined) wake()
  else if (mayBegin(state) && slots.take(true)) start(work, { ...wanted, isProbe: true }, true)
  else window.putBack(due)
}

/** Whoever switches it off, or back, or changes it, is heeded soon. */
async function isStillOurs({ state, endpoint, context }: Work): Promise<boolean> {
  if (performance.now() - state.heldAt < trustedFor) return true
  const isHeld = await extendEndpoint(context.database.db, endpoint)
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
  const loading = loadFeed({ ...context, db: context.database.db }, rows)
  const loaded = await loading.catch((error: unknown) => {
    for (const due of dues.toReversed()) window.putBack(due)
    throw error
  })
  return dues.flatMap((due, index) => {
    const one = loaded[index]
    if (one !== undefined && isForIt(work, due, one)) return [{ due, event: one.event }]
    window.pass(due)
    return []
  })
}

/** What is sent again was found to be for it once, or somebody wants it to have that. */
function isForIt({ endpoint: { gateways } }: Work, { isAgain }: Due, one: LoadedEvent): boolean {
  return isAgain || gateways === null || isOfGateway(one, gateways)
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

async function sendOne(work: Work, request: EventRequest): Promise<void> {
  const { due, event, isProbe } = request
  const { endpoint, secrets, context, signal, state, window } = work
  state.busyAt = performance.now()
  const body = bodyOf(event, endpoint.payload, (error) => {
    context.log.error({ err: error, event: event.id }, 'an event goes out without what it is about')
  })
  const headers = { ...signedHeaders({ id: event.id, body }, secrets, context.now()) }
  const timeout = seconds(endpoint.timeoutSeconds)
  const scrub = scrubOf(secrets, context)
  const sent = await inForwardSpan(work, request, () =>
    send({ url: endpoint.url, headers, body, timeout, scrub }, context.connections, signal),
  )
  state.busyAt = performance.now()
  // Cut off by us: nothing is known of it, and it is sent again.
  const isUnknown = signal.aborted && sent.result !== 'delivered'
  if (isUnknown) return window.putBack(due)
  state.health = healthAfter(state.health, sent, endpoint.maxConcurrency)
  const result = { id: context.newId(), due, sent, isProbe }
  state.results = [...state.results, result]
  window.end(due, isDealtWith(result))
}

/** One request that sends an event, in the trace of the call that brought it. */
function inForwardSpan(
  { context: { spans }, endpoint }: Work,
  { due, event }: Wanted,
  request: () => Promise<Sent>,
): Promise<Sent> {
  const about = () => {
    const attributes = {
      ...eventAttributes(event),
      'quittance.endpoint.id': endpoint.id,
      'quittance.attempt': due.attempts + 1,
    }
    return { name: `forward ${event.type}`, kind: 'CLIENT', attributes } satisfies SpanAbout
  }
  return inSpan(spans?.of(due.row.webhook_call_id ?? event.id), about, async (span) => {
    const sent = await request()
    span?.set({ 'http.response.status_code': sent.status ?? undefined })
    // Not what it answered: that is the endpoint's own text.
    if (sent.result !== 'delivered') span?.failed(sent.result)
    return sent
  })
}
