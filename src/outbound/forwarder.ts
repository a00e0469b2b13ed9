import type { Database } from '../database/connect.ts'
import { anyEndpoint, takeEndpoints, type LeasedEndpoint } from './lease-endpoints.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Secret } from '../kernel/secret.ts'
import { writeDeclared } from './declared-endpoints.ts'
import { giveBackEndpoint, startEndpointRun, type EndpointRun } from './endpoint-run.ts'
import type { FeedSubscription } from './feed-watch.ts'
import type { ForwardContext } from './forward-context.ts'
import { openSecrets } from './secrets.ts'
import { createSlots } from './slots.ts'

/** Sends the feed's events to the endpoints, with other processes: each endpoint is with one. */
export interface Forwarder {
  /** Ends what is under way, and gives the endpoints back. */
  stop(): Promise<void>
}

const lookEvery = seconds(1)
/** Endpoints that one look takes: the rest is for other processes, or the next look. */
const mostTaken = 20
const slotsOf: Readonly<Record<Database['kind'], number>> = { postgres: 256, embedded: 32 }
/** An endpoint whose secrets cannot be read here is left to others for so long. */
const unreadableFor = seconds(30)
/** What is under way may end for so long; then it is cut off. */
const stopGrace: Duration = seconds(20)

export function startForwarder(context: ForwardContext): Forwarder {
  const stopping = new AbortController()
  const cut = new AbortController()
  const runs = new Map<string, EndpointRun>()
  const wakeAll = () => {
    // In turn: whoever is woken first takes the free slot.
    const [first] = runs
    if (first !== undefined && runs.delete(first[0])) runs.set(...first)
    for (const run of runs.values()) run.wake()
  }
  const slots = createSlots(slotsOf[context.database.kind], wakeAll)
  const unreadable = forAWhile(unreadableFor)
  const grown = () => {
    for (const run of runs.values()) run.grown()
  }
  const following = follow(context, { grown, take, stopping: stopping.signal })

  async function take(): Promise<void> {
    const { database, declared, newId } = context
    const options = {
      limit: mostTaken,
      token: newId(),
      declared: [...declared.values()],
      // One whose work still goes on here is written first, even if its lease has run out.
      except: [...unreadable.now(), ...runs.keys()],
    }
    for (const endpoint of await takeEndpoints(database.db, options)) {
      const secrets = secretsOf(endpoint, context)
      if (secrets !== undefined) begin(endpoint, secrets)
      else {
        unreadable.add(endpoint.id)
        leaveToOthers(endpoint, context)
      }
    }
  }

  function begin(endpoint: LeasedEndpoint, secrets: readonly Secret[]): void {
    const run = startEndpointRun({ endpoint, secrets, slots, context, signal: cut.signal })
    runs.set(endpoint.id, run)
    void run.ended.finally(() => {
      if (runs.get(endpoint.id) === run) runs.delete(endpoint.id)
    })
    if (stopping.signal.aborted) run.stop()
  }

  return {
    async stop() {
      stopping.abort()
      const grace = setTimeout(() => cut.abort(), stopGrace)
      await following
      for (const run of runs.values()) run.stop()
      await Promise.all(Array.from(runs.values(), ({ ended }) => ended))
      clearTimeout(grace)
      context.connections.end()
    },
  }
}

/** Another process may have the key. */
function leaveToOthers(endpoint: LeasedEndpoint, context: ForwardContext): void {
  const { name } = endpoint
  context.log.error({ endpoint: name }, 'the secrets of an endpoint cannot be decrypted')
  void giveBackEndpoint(endpoint, context)
}

/** Names that are kept for so long. */
function forAWhile(length: Duration) {
  const until = new Map<string, number>()
  return {
    add: (name: string) => void until.set(name, performance.now() + length),
    now(): readonly string[] {
      for (const [name, end] of until) if (end < performance.now()) until.delete(name)
      return [...until.keys()]
    },
  }
}

/** A declared one has its secrets where it is declared. */
function secretsOf(
  { id, name, source, secrets }: LeasedEndpoint,
  { declared, cipher, now }: ForwardContext,
): readonly Secret[] | undefined {
  if (source === 'config') return declared.get(name)?.secrets
  if (secrets === null) return undefined
  return openSecrets(cipher, { endpointId: id, stored: secrets, now: now() })
}

interface FollowOptions {
  grown(): void
  take(): Promise<void>
  readonly stopping: AbortSignal
}

/** Looks once a second, and whenever the feed has grown; follows it only if there is an endpoint. */
async function follow(
  { database, feed, log, declared, newId }: ForwardContext,
  { grown, take, stopping }: FollowOptions,
): Promise<void> {
  let subscription: FeedSubscription | undefined
  let isDeclared = false
  const place = { db: database.db, numberer: feed.numberer }
  while (!stopping.aborted) {
    try {
      if (!isDeclared) await writeDeclared(place, declared.values(), newId)
      isDeclared = true
      const any = await anyEndpoint(database.db)
      if (any) subscription ??= feed.watch.subscribe('endpoints')
      if (any) {
        await take()
        grown()
      } else {
        subscription?.end()
        subscription = undefined
      }
    } catch (error) {
      log.warn({ err: error }, 'endpoints are looked at again')
    }
    await grownOrLater(subscription, stopping)
  }
  subscription?.end()
}

async function grownOrLater(
  subscription: FeedSubscription | undefined,
  stopping: AbortSignal,
): Promise<void> {
  const soon = AbortSignal.any([stopping, AbortSignal.timeout(lookEvery)])
  if (subscription !== undefined) return subscription.grown(soon)
  await new Promise<void>((resolve) => {
    soon.addEventListener('abort', () => resolve(), { once: true })
    if (soon.aborted) resolve()
  })
}
