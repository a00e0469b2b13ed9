import type { Database } from '../database/connect.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { NewId } from '../kernel/ids.ts'
import { createLinkedList, type LinkedList } from '../kernel/linked-list.ts'
import type { Log } from '../kernel/log.ts'
import type { Lease, QueueTable } from '../leases/leased-table.ts'
import { createUnanswered, extendHeld, releaseHeld, type Unanswered } from './held-leases.ts'

/** How many rows to take, leased under which token. */
export interface LaneTake {
  readonly limit: number
  readonly token: string
  /** Take rows whose worker died before. */
  readonly alone: boolean
}

export interface LanesOptions<Row extends Lease> {
  readonly table: QueueTable
  readonly database: Database
  readonly log: Log
  readonly newId: NewId
  /** Rows handled at the same time if they are slow; as many again are leased ahead. */
  readonly least: number
  /** Rows handled at the same time if they are quick. */
  readonly most: number
  /** How often to look without being woken; 1 s by default. */
  readonly pollEvery?: Duration
  /** Whether rows are due that must be handled with nothing beside them. */
  anyAlone(): Promise<boolean>
  take(options: LaneTake): Promise<readonly Row[]>
  /**
   * Never rejects: every end of a row is recorded on the row. `setAside` gives the row's lane to
   * another row: for one that only waits for somebody else.
   */
  handle(row: Row, setAside: () => void): Promise<unknown>
}

export interface Lanes<Row extends Lease> {
  wake(): void
  /** How many more rows there is room for now, beside those that are being taken. */
  room(): number
  /** Rows that are leased already. Lanes that stop release them, and only then does it resolve. */
  give(rows: readonly Row[]): Promise<void>
  /** Rows may be leased under this token, and nobody has them. The same holds. */
  release(token: string): Promise<void>
  stop(grace: Duration): Promise<void>
}

const defaultPollEvery: Duration = seconds(1)
const extendEvery: Duration = seconds(10)
const aloneEvery: Duration = seconds(5)
const drainFor: Duration = seconds(3)
const aloneFor: Duration = seconds(3)
const aloneTurn: Duration = seconds(4)
const quick: Duration = 200
const slow: Duration = seconds(1)

interface RunningRow<Row extends Lease> {
  readonly row: Row
  readonly handled: Promise<unknown>
}

interface State<Row extends Lease> extends LanesOptions<Row> {
  /** Rows handled at the same time now. Few, if they are slow: other workers can take the rest. */
  lanes: number
  /** Leased, and waiting for a lane. */
  readonly buffer: Row[]
  readonly running: LinkedList<RunningRow<Row>>
  /** How many of them hold no lane. */
  aside: number
  stopping: boolean
  /** The last look found all that it asked for, or the worker was woken since. */
  more: boolean
  /** Rows that the look under way may find: they come before those that are handed over. */
  expected: number
  /** Handed over during it: they come behind what it finds, which is older. */
  readonly behind: Row[]
  /** The last look found all that it asked for. */
  isBehindhand: boolean
  /** Since the last look, somebody has asked how many rows may be handed over. */
  isAsked: boolean
  readonly unanswered: Unanswered
  /** Rows are due that must be handled with nothing beside them: the lanes run empty for them. */
  aloneDue: boolean
  /** One of them is being handled: nothing begins beside it. */
  alone: boolean
  /** The lanes have had time to run empty; what still runs is slow, and goes on beside. */
  drained: boolean
  filling: Promise<void> | undefined
}

/**
 * Takes rows and hands them to lanes, refilling while some wait, so that a slow row holds up its
 * own lane only. Rows whose worker died before are handled with nothing beside them.
 */
export function startLanes<Row extends Lease>(options: LanesOptions<Row>): Lanes<Row> {
  const state: State<Row> = {
    ...options,
    lanes: options.least,
    buffer: [],
    running: createLinkedList(),
    aside: 0,
    stopping: false,
    more: true,
    expected: 0,
    behind: [],
    isBehindhand: false,
    isAsked: false,
    unanswered: createUnanswered(options),
    aloneDue: false,
    // Stryker disable next-line BooleanLiteral: nothing begins before the first look, which sets it
    alone: false,
    // Stryker disable next-line BooleanLiteral: it is set anew whenever such rows are looked for
    drained: false,
    filling: undefined,
  }
  const wake = () => {
    state.more = true
    advance(state)
  }
  const timers = [
    setInterval(wake, options.pollEvery ?? defaultPollEvery),
    setInterval(() => void lookForAlone(state), aloneEvery),
    setInterval(() => void extendHeld(state, held(state)), extendEvery),
  ]
  advance(state)
  return {
    wake,
    room: () => {
      state.isAsked = true
      // Where a look is due, older rows may wait: they would be passed over as long as we are full.
      if (state.stopping || state.more || state.aloneDue || state.alone) return 0
      return Math.max(0, freeRoom(state) - state.expected)
    },
    async give(rows) {
      const queue = state.expected > 0 ? state.behind : state.buffer
      if (state.stopping) await releaseHeld(state, rows)
      else queue.push(...rows)
      advance(state)
    },
    async release(token) {
      state.unanswered.add(token)
      if (state.stopping) await state.unanswered.release()
    },
    async stop(grace) {
      state.stopping = true
      await releaseHeld(state, state.buffer.splice(0))
      const handled = Array.from(state.running, (one) => one.handled)
      await Promise.race([Promise.all([state.filling, ...handled]), pause(grace)])
      for (const timer of timers) clearInterval(timer)
      await releaseHeld(state, held(state))
      await state.unanswered.release()
    },
  }
}

function advance<Row extends Lease>(state: State<Row>): void {
  const mayBegin = () => !state.stopping && !state.alone
  while (mayBegin() && state.running.size - state.aside < state.lanes) {
    const row = state.buffer.shift()
    if (row === undefined) break
    void run(state, row).then(() => advance(state))
  }
  if (state.filling !== undefined || !mayFill(state)) return
  state.filling = fill(state).then(() => {
    state.filling = undefined
    advance(state)
  })
}

async function run<Row extends Lease>(state: State<Row>, row: Row): Promise<void> {
  const begun = performance.now()
  let holdsLane = true
  let hasEnded = false
  const setAside = () => {
    if (hasEnded || !holdsLane) return
    holdsLane = false
    state.aside += 1
    advance(state)
  }
  const handled = state.handle(row, setAside)
  const place = state.running.append({ row, handled })
  await handled
  hasEnded = true
  state.running.remove(place)
  // How long somebody else took says nothing about our own load.
  if (holdsLane) adapt(state, performance.now() - begun)
  else state.aside -= 1
}

function held<Row extends Lease>(state: State<Row>): readonly Row[] {
  return [...state.buffer, ...state.behind, ...Array.from(state.running, ({ row }) => row)]
}

/**
 * Quick rows open lanes one by one, a slow one closes half of them; the rows that are then too many
 * go back, for other workers.
 */
function adapt<Row extends Lease>(state: State<Row>, took: Duration): void {
  if (took < quick) state.lanes = Math.min(state.most, state.lanes + 1)
  if (took <= slow) return
  state.lanes = Math.max(state.least, Math.floor(state.lanes / 2))
  void releaseHeld(state, state.buffer.splice(state.lanes))
}

function mayFill<Row extends Lease>(state: State<Row>): boolean {
  if (state.stopping) return false
  if (state.aloneDue)
    return state.buffer.length === 0 && (state.running.size === 0 || state.drained)
  return state.more && state.buffer.length < state.lanes / 2
}

/** Never rejects. */
async function fill<Row extends Lease>(state: State<Row>): Promise<void> {
  try {
    if (state.unanswered.size > 0) await state.unanswered.release()
    // By now the lanes may be full of what was handed over, or have to run empty.
    if (mayFill(state)) await (state.aloneDue ? runAlone(state) : refill(state))
  } catch (error) {
    state.log.error({ err: error, table: state.table.name }, 'could not take work; will try again')
  } finally {
    state.alone = false
    // What was found, and what was handed over meanwhile.
    if (state.stopping) await releaseHeld(state, state.buffer.splice(0))
  }
}

async function refill<Row extends Lease>(state: State<Row>): Promise<void> {
  const room = freeRoom(state)
  // A look that took it all would leave what comes meanwhile for the next look, and so on for ever.
  const limit = state.isAsked && !state.isBehindhand ? Math.ceil(room / 2) : room
  // Before the look: a wake during it may be about rows that it does not see.
  state.more = false
  state.expected = limit
  state.isAsked = false
  let found: readonly Row[] = []
  try {
    found = await look(state, { limit, alone: false })
  } finally {
    state.expected = 0
    state.buffer.push(...found, ...state.behind.splice(0))
  }
  state.isBehindhand = found.length === limit
  if (state.isBehindhand) state.more = true
  advance(state)
}

function freeRoom<Row extends Lease>({ lanes, buffer, behind }: State<Row>): number {
  return lanes - buffer.length - behind.length
}

async function look<Row extends Lease>(state: State<Row>, which: Omit<LaneTake, 'token'>) {
  const token = state.newId()
  state.unanswered.add(token)
  const rows = await state.take({ ...which, token })
  state.unanswered.delete(token)
  return rows
}

/**
 * When such a row is found, the lanes get a while to run empty for it. Not while one is handled:
 * once their turn is over, others have one.
 */
async function lookForAlone<Row extends Lease>(state: State<Row>): Promise<void> {
  if (state.aloneDue || state.alone || state.stopping) return
  // Stryker disable next-line ArrowFunction: nothing is as good as false
  state.aloneDue = await state.anyAlone().catch(() => false)
  // Stryker disable next-line ConditionalExpression: where none is due, nothing asks for the rest
  if (!state.aloneDue) return
  state.drained = false
  advance(state)
  await pause(drainFor)
  state.drained = true
  advance(state)
}

/**
 * One after the other, for a while; the rest wait for the next look. A row that kills its worker
 * does so at once: one that is only slow may end beside others.
 */
async function runAlone<Row extends Lease>(state: State<Row>): Promise<void> {
  state.aloneDue = false
  state.alone = true
  const until = performance.now() + aloneTurn
  while (!state.stopping && performance.now() < until) {
    const [row] = await look(state, { limit: 1, alone: true })
    if (row === undefined) break
    // It goes back with whatever else is leased and not begun.
    if (state.stopping) return void state.buffer.push(row)
    await Promise.race([run(state, row), pause(aloneFor)])
  }
  state.more = true
}

function pause(length: Duration): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, length).unref()
  })
}
