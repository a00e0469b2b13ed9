import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { ReadEventsOptions } from '../billing/event-types.ts'
import type { BillingCore } from '../billing/types.ts'
import { findEmbedded } from '../database/embedded/find-embedded.ts'
import { isPassing } from '../database/failure.ts'
import type { EventType } from '../events/catalogue.ts'
import { seconds } from '../kernel/duration.ts'
import type { FeedEvent } from '../wire/outgoing-event.ts'
import { readConfiguration } from './env.ts'
import { aboutEvent } from './event-text.ts'
import { gatewayQuery } from './gateway-query.ts'
import { withCore } from './open-core.ts'
import { visible } from './output.ts'

export interface TailOptions {
  readonly after?: string
  readonly since?: Date
  readonly type?: readonly EventType[]
  readonly gateway?: string
  readonly json?: boolean
}

const tryAgainAfter = seconds(1)

/** Prints the events of the feed as they come, until SIGINT or SIGTERM; a second one ends it at once. */
export async function tailEvents(options: TailOptions): Promise<void> {
  const ended = new AbortController()
  const end = () => ended.abort()
  process.once('SIGINT', end).once('SIGTERM', end)
  try {
    await requireOwner()
    await withCore((core) => printFeed(core, options, ended.signal))
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end)
  }
}

/**
 * An embedded database belongs to one process. If this were the one, it would see nothing, and keep
 * the service from starting. Error: `embedded_not_running`.
 */
async function requireOwner(): Promise<void> {
  const { url, memory, dataDir } = (await readConfiguration()).options.database
  if (url === undefined && !memory) await findEmbedded(dataDir)
}

async function printFeed(
  core: BillingCore,
  { after, since, type: types, gateway, json }: TailOptions,
  signal: AbortSignal,
): Promise<void> {
  const filter = { ...gatewayQuery(core, gateway), ...(types && { types }), signal }
  let start: ReadEventsOptions = since === undefined ? { after: after ?? 'end' } : { since, after }
  let hasBegun = false
  while (!signal.aborted) {
    try {
      for await (const { data, nextCursor } of core.events.pages({ ...filter, ...start })) {
        for (const event of data) await write(json === true ? JSON.stringify(event) : lineOf(event))
        start = { after: nextCursor }
        hasBegun = true
      }
    } catch (error) {
      // A service that starts again takes its embedded database with it for a moment; the log says so.
      if (!hasBegun || !isPassing(error)) throw error
      await pause(tryAgainAfter, undefined, { signal }).catch(() => {})
    }
  }
}

/** A reader that is slower than the feed is waited for. */
async function write(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain')
}

function lineOf(event: FeedEvent): string {
  const { type, timestamp, ...rest } = event.toJSON()
  const time = `${timestamp.slice(0, 19)}Z`
  return visible([time, type.padEnd(typeWidth), ...aboutEvent(rest)].join('  ').trimEnd())
}

/** Most names are as short. */
const typeWidth = 'PaymentSucceeded'.length
