import type { Kysely } from 'kysely'
import {
  findAtPosition,
  findFirstSince,
  findPlace,
  findPosition,
  readEnd,
  readLastPosition,
  type FeedEnd,
} from '../database/feed.ts'
import type { Tables } from '../database/tables.ts'
import { minutes } from '../kernel/duration.ts'
import { fieldError, QuittanceError } from '../kernel/errors.ts'
import { readUuid } from '../kernel/uuid.ts'
import type { EventNumberer } from './number-events.ts'

/** Where places of the feed are looked for. */
export interface FeedPlace {
  readonly db: Kysely<Tables>
  readonly numberer: Pick<EventNumberer, 'catchUp'>
}

/** Where a reader goes on: behind an event, or from the beginning. */
export interface FeedCursor {
  /** The id of the event, or `start`. */
  readonly cursor: string
  readonly position: bigint
}

/** Where to begin: `start`, `end`, or behind an event; or at a time. */
export interface FeedStart {
  readonly after?: string | undefined
  readonly since?: Date | undefined
}

const feedStart: FeedCursor = { cursor: 'start', position: 0n }

/**
 * The place behind which to read. Errors: `cursor_invalid`; `cursor_unknown`: the database is an
 * earlier state of itself, or another one.
 */
export async function findCursor(
  place: FeedPlace,
  { after = 'start', since }: FeedStart,
): Promise<FeedCursor> {
  const { db, numberer } = place
  if (since !== undefined) return behind(db, await positionBefore(db, since))
  if (after === 'start') return feedStart
  if (after === 'end') return endOf(place)
  const id = readUuid(after)
  if (id === undefined) {
    throw fieldError('cursor_invalid', 'after', 'must be start, end or the id of an event')
  }
  if ((await findPosition(db, id)) === null) await numberer.catchUp()
  const position = await findPlace(db, id)
  if (position === undefined) {
    throw new QuittanceError('cursor_unknown', `there is no event ${id} in this feed`)
  }
  return { cursor: id, position }
}

async function endOf(place: FeedPlace): Promise<FeedCursor> {
  const { position, unnumbered } = await findEnd(place)
  return unnumbered === null ? behind(place.db, position) : { cursor: unnumbered, position }
}

/**
 * Where the feed ends: what commits from now on is behind it. Events are numbered for that, because
 * one that is still under way may come before one that is there already. Of a whole history it is
 * foretold.
 */
export async function findEnd({ db, numberer }: FeedPlace): Promise<FeedEnd> {
  if (!(await numberer.catchUp())) return readEnd(db)
  return { position: await readLastPosition(db), unnumbered: null }
}

/** As a cursor; of a position of the feed, or 0. */
async function behind(db: Kysely<Tables>, position: bigint): Promise<FeedCursor> {
  if (position === 0n) return feedStart
  const event = await findAtPosition(db, position)
  if (event === undefined) throw new Error(`the feed has no event at ${position}`)
  return { cursor: event.id, position }
}

/**
 * No transaction is open for that long: before an event that is so much older than another, there is
 * none that is newer than both.
 */
const longestTransaction = minutes(15)

/** The position before the first event from a time on. Times only nearly follow the positions. */
async function positionBefore(db: Kysely<Tables>, since: Date): Promise<bigint> {
  const last = await readLastPosition(db)
  const early = new Date(since.getTime() - longestTransaction)
  const isEarly = async (position: bigint) => {
    const event = await findAtPosition(db, position)
    return event !== undefined && event.createdAt < early
  }
  let before = 0n
  let beyond = last + 1n
  while (beyond - before > 1n) {
    const middle = (before + beyond) / 2n
    if (await isEarly(middle)) before = middle
    else beyond = middle
  }
  const first = await findFirstSince(db, before, since)
  return first === undefined ? last : first - 1n
}
