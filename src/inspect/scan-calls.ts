import type { Kysely } from 'kysely'
import { lookInsideCalls } from '../database/calls.ts'
import { readCalls } from '../database/list-calls.ts'
import { cursorOf, pageLimit, readCursor, type Page, type PageQuery } from '../database/page.ts'
import type { Tables } from '../database/tables.ts'
import type { WebhookCall } from '../events/webhook-call.ts'
import { days, seconds, type Duration } from '../kernel/duration.ts'
import { idAt, timeOfId } from '../kernel/ids.ts'
import { readSearched } from './find.ts'

/** Which callbacks to look inside. */
export interface ScanQuery extends PageQuery {
  /** What the payload contains, as it is typed: capitals count. */
  readonly text: string
  /** The earliest time of receipt; a day before `until` by default. */
  readonly from?: Date
  /** The end of the time, exclusive; now by default. */
  readonly until?: Date
}

/** A page of callbacks that contain a text. It may be short, or empty, although there is a next one. */
export interface ScannedCalls extends Page<WebhookCall> {
  /** All callbacks since then were looked at, as far as `from` or the cursor said. */
  readonly lookedBackTo: Date
}

interface ScanContext {
  readonly now: Date
  /** Milliseconds of a clock that only goes forward. */
  ticks(): number
}

const usualLength: Duration = days(1)
/** Calls that one page looks at, and for how long. */
const mostRows = 20_000
const longest: Duration = seconds(2)
/** Calls that one statement looks at: fewer where payloads are large. */
const firstWindow = 100
const largestWindow = 1_000
const smallestWindow = 25
const quick: Duration = 100

/**
 * Looks inside the payloads of a time, from the newest or from the cursor on; the next page goes on from
 * there. Errors: query_invalid, cursor_invalid.
 */
export async function scanCalls(
  db: Kysely<Tables>,
  query: ScanQuery,
  { now, ticks }: ScanContext,
): Promise<ScannedCalls> {
  const spellings = spellingsOf(readSearched(query.text))
  const limit = pageLimit(query)
  const { from, ...start } = startOf(query, now)
  const begun = ticks()
  const hits: string[] = []
  let before = start.before
  let scanned = 0
  let rows = firstWindow
  let isOver = false
  while (!isOver && hits.length <= limit && scanned < mostRows && ticks() - begun < longest) {
    const windowBegun = ticks()
    const most = Math.min(rows, mostRows - scanned)
    const window = await lookInsideCalls(db, { from: idAt(from), before, rows: most }, spellings)
    hits.push(...window.filter(({ isHit }) => isHit).map(({ id }) => id))
    isOver = window.length < most
    before = window.at(-1)?.id ?? before
    scanned += window.length
    rows = nextWindow(rows, ticks() - windowBegun)
  }
  const data = await readCalls(db, hits.slice(0, limit))
  const last = hits.length > limit ? hits[limit - 1] : isOver ? undefined : before
  if (last === undefined) return { data, nextCursor: null, lookedBackTo: from }
  const nextCursor = cursorOf({ at: from, id: last })
  return { data, nextCursor, lookedBackTo: new Date(timeOfId(last)) }
}

/** A cursor holds the beginning of the time, too: a day before now is later on the next page. */
function startOf({ from, until, cursor }: ScanQuery, now: Date) {
  const after = readCursor(cursor)
  const end = until ?? now
  const before = after?.id ?? (until && idAt(until))
  return { from: from ?? after?.at ?? new Date(end.getTime() - usualLength), before }
}

function nextWindow(rows: number, took: Duration): number {
  if (took < quick) return Math.min(rows * 2, largestWindow)
  return Math.max(Math.trunc(rows / 2), smallestWindow)
}

/**
 * How a text may stand in stored JSON: as it is typed, which may be a piece of JSON, and as writers of JSON
 * escape it. Some escape slashes, some all that is not ASCII, with small or with capital digits.
 */
export function spellingsOf(text: string): readonly string[] {
  const escaped = JSON.stringify(text).slice(1, -1)
  const small = withEscapes(escaped)
  const capital = withEscapes(escaped, (digits) => digits.toUpperCase())
  const spelled = [escaped, small, capital]
  return [...new Set([text, ...spelled, ...spelled.map((one) => one.replaceAll('/', '\\/'))])]
}

/** Each half of a surrogate pair is escaped by itself. */
function withEscapes(escaped: string, write: (digits: string) => string = (digits) => digits) {
  return escaped.replace(/[\u0080-\uffff]/g, (unit) => {
    const digits = unit.charCodeAt(0).toString(16).padStart(4, '0')
    return `\\u${write(digits)}`
  })
}
