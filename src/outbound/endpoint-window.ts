import { readDueForwards, readOldestForward, type DueForward } from '../database/forwards.ts'
import type { LeasedEndpoint } from './lease-endpoints.ts'
import type { FeedRow } from '../database/read-feed-rows.ts'
import { isUnverified } from '../events/catalogue.ts'
import { seconds } from '../kernel/duration.ts'
import type { ForwardContext } from './forward-context.ts'

/** An event that is to be sent. */
export interface Due {
  readonly row: FeedRow
  /** Attempts that have failed. */
  readonly attempts: number
  /** It has a row of its own; false: it is beyond the position of the endpoint. */
  readonly isAgain: boolean
  /** That row as it was read. */
  readonly asOf?: Date
}

/** What an endpoint has still to get, and how far it has got. */
export interface EndpointWindow {
  /** All up to it is dealt with. */
  readonly position: bigint
  /** Dealt with beyond it. */
  ahead(): readonly bigint[]
  /** The feed has grown, or may have. */
  grown(): void
  /**
   * Looks for what is due, if there is room for it. False: the lease is lost, or the endpoint is
   * disabled or changed, as was seen within the last second.
   */
  refill(): Promise<boolean>
  /** There is more to look at: a look is limited, for much may not be wanted. */
  readonly isBehind: boolean
  /** There is something to send. */
  readonly hasMore: boolean
  /** The next events, at most so many, of subjects that have none under way; they then are. */
  next(most: number): readonly Due[]
  /** The one that a probe sends. */
  probe(turn: number): Promise<Due | undefined>
  /** It was not sent, and waits on. */
  putBack(due: Due): void
  /** It is not for this endpoint. */
  pass(due: Due): void
  /** It was sent. `isDealtWith`: it need not be sent from here again. */
  end(due: Due, isDealtWith: boolean): void
  /** What became of them is in their rows now: those say when they are due. */
  written(dues: readonly Due[]): void
}

/** Events beyond the position of an endpoint that are dealt with meanwhile, at most. */
const mostAhead = 100n
const mostAgain = 100
/** Windows of the feed that one look reads. */
const mostReads = 10
const lookAgainEvery = seconds(1)

type Needs = Pick<ForwardContext, 'database' | 'feed'>

export function openWindow(endpoint: LeasedEndpoint, context: Needs): EndpointWindow {
  const { db } = context.database
  const done = createProgress(endpoint)
  const waiting = createWaiting()
  const reader = createReader(endpoint, context, { done, waiting })
  let lookedAgainAt = -Infinity
  let isOurs = true
  return {
    get position() {
      return done.position
    },
    ahead: done.ahead,
    grown: reader.grown,
    get isBehind() {
      return reader.isBehind
    },
    async refill() {
      if (performance.now() - lookedAgainAt > lookAgainEvery) {
        lookedAgainAt = performance.now()
        const again = await readDueForwards(db, endpoint, mostAgain)
        isOurs = again !== undefined
        for (const forward of again ?? []) waiting.add(asAgain(forward))
      }
      await reader.readOn()
      return isOurs
    },
    get hasMore() {
      return waiting.hasMore
    },
    next: waiting.next,
    async probe(turn) {
      const oldest = await readOldestForward(db, endpoint.id)
      await reader.readOn()
      const newer = waiting.newest()
      // By turns: what one event meets there need not be what the others meet.
      const chosen = turn % 2 === 1 && newer ? newer : oldest ? asAgain(oldest) : newer
      return chosen && waiting.begin(chosen)
    },
    written: waiting.written,
    putBack(due) {
      waiting.end(due)
      waiting.putBack(due)
    },
    pass(due) {
      waiting.end(due)
      done.add(due.row.position)
    },
    end(due, isDealtWith) {
      waiting.end(due)
      waiting.awaitWriting(due)
      if (isDealtWith) done.add(due.row.position)
      else if (!due.isAgain) waiting.putBack(due)
    },
  }
}

interface Filled {
  readonly done: ReturnType<typeof createProgress>
  readonly waiting: ReturnType<typeof createWaiting>
}

/** Reads the feed as far as there is room, and keeps what is wanted of it. */
function createReader(
  endpoint: LeasedEndpoint,
  { feed }: Pick<Needs, 'feed'>,
  { done, waiting }: Filled,
) {
  let looked = done.position
  let growths = 0
  /** It ended where it was looked at, as it was then. */
  let endedAt = -1
  const isBehind = () => looked < done.position + mostAhead && endedAt !== growths
  const take = (row: FeedRow) => {
    looked = row.position
    if (done.has(row.position)) return
    if (isWanted(endpoint, row)) waiting.add({ row, attempts: 0, isAgain: false })
    else done.add(row.position)
  }
  return {
    grown() {
      growths += 1
    },
    get isBehind() {
      return isBehind()
    },
    async readOn() {
      for (let reads = 0; reads < mostReads && isBehind(); reads += 1) {
        const known = growths
        const rows = await feed.rows.beyond(looked)
        if (rows.length === 0) endedAt = known
        for (const row of rows) {
          if (row.position > done.position + mostAhead) return
          take(row)
        }
      }
    },
  }
}

/** The positions that are dealt with. */
function createProgress({ position: from, ahead }: LeasedEndpoint) {
  let position = BigInt(from)
  const beyond = new Set(ahead.filter((one) => one > position))
  const moveOn = () => {
    while (beyond.delete(position + 1n)) position += 1n
  }
  moveOn()
  return {
    get position() {
      return position
    },
    has: (one: bigint) => one <= position || beyond.has(one),
    add(one: bigint) {
      if (one <= position) return
      beyond.add(one)
      moveOn()
    },
    ahead: () => [...beyond].toSorted((a, b) => (a < b ? -1 : 1)),
  }
}

/** Events that wait or are under way, in their order; of each subject one is under way. */
function createWaiting() {
  const waiting: Due[] = []
  const underWay = new Set<string>()
  /** Sent, and not written yet: their rows may still say that they are due. */
  const unwritten = new Set<string>()
  const busy = new Set<string>()
  const begin = (due: Due): Due => {
    const index = waiting.findIndex(({ row }) => row.id === due.row.id)
    if (index !== -1) waiting.splice(index, 1)
    underWay.add(due.row.id)
    busy.add(subjectOf(due.row))
    return due
  }
  return {
    begin,
    add(due: Due) {
      const { id } = due.row
      if (underWay.has(id) || unwritten.has(id)) return
      const index = waiting.findIndex(({ row }) => row.id === id)
      if (index === -1) waiting.push(due)
      // Somebody may have asked for it meanwhile: its attempts are counted anew.
      else if (due.isAgain) waiting[index] = due
    },
    next(most: number) {
      const dues: Due[] = []
      while (dues.length < most) {
        const due = waiting.find(({ row }) => !busy.has(subjectOf(row)))
        if (due === undefined) break
        dues.push(begin(due))
      }
      return dues
    },
    get hasMore() {
      return waiting.length > 0
    },
    newest: () => waiting.find(({ isAgain }) => !isAgain),
    putBack: (due: Due) => void waiting.unshift(due),
    end({ row }: Due) {
      underWay.delete(row.id)
      busy.delete(subjectOf(row))
    },
    awaitWriting: ({ row }: Due) => void unwritten.add(row.id),
    written(dues: readonly Due[]) {
      for (const { row } of dues) unwritten.delete(row.id)
    },
  }
}

function asAgain({ attempts, asOf, ...row }: DueForward): Due {
  return { row, attempts, asOf, isAgain: true }
}

/** By its type alone; of which gateway it is, is known once its subject is loaded. */
function isWanted({ eventTypes }: LeasedEndpoint, { type }: FeedRow): boolean {
  return eventTypes === null ? !isUnverified(type) : eventTypes.includes(type)
}

/** Two events about the same are never under way at the same time. */
function subjectOf(row: FeedRow): string {
  return (
    row.payment_id ??
    row.subscription_id ??
    row.invoice_id ??
    row.payment_method_id ??
    row.dedup_key
  )
}
