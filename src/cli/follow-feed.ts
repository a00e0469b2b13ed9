import { setTimeout as pause } from 'node:timers/promises'
import type { FeedResult, ReadEventsOptions } from '../billing/event-types.ts'
import type { BillingCore } from '../billing/types.ts'
import { findEmbedded } from '../database/embedded/find-embedded.ts'
import { classifyFailure, isPassing } from '../database/failure.ts'
import { seconds } from '../kernel/duration.ts'
import { endWithParent } from './end-with-parent.ts'
import { readConfiguration } from './env.ts'
import { withCore } from './open-core.ts'

const tryAgainAfter = seconds(1)

/** Until when the feed is followed, and what to do where the connection to it is lost. */
export interface Following {
  readonly signal: AbortSignal
  /** False: the error says nothing of a lost connection. */
  lost(error: unknown): boolean
}

type Follow = (core: BillingCore, following: Following) => Promise<void>

/** Runs until SIGINT or SIGTERM, or the end of npm that runs it; a second one ends it at once. */
export async function untilInterrupted(follow: Follow): Promise<void> {
  const ended = new AbortController()
  const end = () => ended.abort()
  process.once('SIGINT', end).once('SIGTERM', end)
  let lost: Following['lost'] | undefined
  // What is said of it in two lines needs no stack for each part that has noticed.
  const takes = (error: unknown) => lost?.(error) ?? false
  try {
    await requireOwner()
    await withCore(
      (core, { configuration, log }) => {
        if (configuration.isRunByNpm) endWithParent({ log })
        const following = followingOf(core, ended.signal, say)
        lost = following.lost
        return follow(core, following)
      },
      { takes },
    )
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end)
  }
}

/** The database does not answer. One that is busy does. */
function isLost(error: unknown): boolean {
  const kind = classifyFailure(error)
  return kind === 'lost' || kind === 'unavailable'
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** Says once that the connection is lost, and once that it is there again. */
export function followingOf(
  core: { readonly events: Pick<BillingCore['events'], 'feed'> },
  signal: AbortSignal,
  tell: (line: string) => void,
): Following {
  let isAway = false
  const isThere = () =>
    core.events.feed({ after: 'end', limit: 1 }).then(
      () => true,
      () => false,
    )
  const wait = async () => {
    tell('Lost the service, or its database: waiting for it.')
    do {
      await pause(tryAgainAfter, undefined, { signal }).catch(() => {})
    } while (!signal.aborted && !(await isThere()))
    isAway = false
    if (!signal.aborted) tell('Connected again.')
  }
  return {
    signal,
    lost(error) {
      if (!isLost(error)) return false
      if (!isAway && !signal.aborted) {
        isAway = true
        void wait()
      }
      return true
    },
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
  { signal, lost }: Following,
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
      // A service that starts again takes its embedded database with it for a moment.
      if (!hasBegun || !isPassing(error)) throw error
      lost(error)
      await pause(tryAgainAfter, undefined, { signal }).catch(() => {})
    }
  }
}
