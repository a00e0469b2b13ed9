import { setTimeout as pause } from 'node:timers/promises'
import type { FeedResult, ReadEventsOptions } from '../billing/event-types.ts'
import type { BillingCore } from '../billing/types.ts'
import { findEmbedded } from '../database/embedded/find-embedded.ts'
import { isPassing } from '../database/failure.ts'
import { seconds } from '../kernel/duration.ts'
import { readConfiguration } from './env.ts'
import { withCore } from './open-core.ts'

const tryAgainAfter = seconds(1)

type Follow = (core: BillingCore, signal: AbortSignal) => Promise<void>

/** Runs until SIGINT or SIGTERM; a second one ends it at once. */
export async function untilInterrupted(follow: Follow): Promise<void> {
  const ended = new AbortController()
  const end = () => ended.abort()
  process.once('SIGINT', end).once('SIGTERM', end)
  try {
    await requireOwner()
    await withCore((core) => follow(core, ended.signal))
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

/** The pages of the feed, also over a restart of the service, until the signal aborts. */
export async function* followPages(
  core: BillingCore,
  begin: ReadEventsOptions,
  signal: AbortSignal,
): AsyncGenerator<FeedResult, void> {
  const { after, since, ...filter } = begin
  let start: ReadEventsOptions = since === undefined ? { after } : { since, after }
  let hasBegun = false
  while (!signal.aborted) {
    try {
      for await (const page of core.events.pages({ ...filter, ...start, signal })) {
        yield page
        start = { after: page.nextCursor }
        hasBegun = true
      }
    } catch (error) {
      // A service that starts again takes its embedded database with it for a moment; the log says so.
      if (!hasBegun || !isPassing(error)) throw error
      await pause(tryAgainAfter, undefined, { signal }).catch(() => {})
    }
  }
}
