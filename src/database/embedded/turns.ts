import { setImmediate as afterInputAndOutput } from 'node:timers/promises'
import type { Session } from './session.ts'
import type { Unit } from './units.ts'

/** One connected client, as the order of turns sees it. */
export interface Client {
  /** Units that wait for their turn. */
  readonly units: Unit[]
  /** True once it disconnected: its units are dropped, its transaction is rolled back. */
  gone: boolean
  /** How long it would wait for a statement, in ms; 0: it has not said. */
  statementLimitMs: number
  send(response: Buffer): void
  /** Ends the connection with a last message: a SQLSTATE and a text. */
  dismiss(code: string, message: string): void
}

export interface TurnOptions {
  readonly session: Session
  /** Called before the session is busy for a client, which would wait for so long. */
  readonly busyFor: (statementLimitMs: number) => void
  readonly lost: (error: unknown) => void
  readonly warn: (message: string) => void
  readonly transactionIdleMs: number
}

/** Gives the one session to one client at a time. */
export interface Turns {
  submit(client: Client, unit: Unit): void
  leave(client: Client): void
  /** Rolls back what is open; no unit runs afterwards. */
  close(): Promise<void>
}

/** How long turns follow one another before sockets and timers get theirs. */
const sliceMs = 5

interface Table {
  /** Clients with units, in the order in which they came. */
  readonly waiting: Set<Client>
  /** Whose transaction is open: nobody else runs before it ends. */
  holder: Client | undefined
  closed: boolean
}

export function createTurns(options: TurnOptions): Turns {
  const { session, lost, warn, transactionIdleMs } = options
  const table: Table = { waiting: new Set(), holder: undefined, closed: false }
  let idleTimer: NodeJS.Timeout | undefined
  let working: Promise<void> | undefined

  const start = () => {
    if (working !== undefined || table.closed) return
    clearTimeout(idleTimer)
    working = work(options, table).catch(fail).finally(rest)
  }

  const fail = (error: unknown) => {
    table.closed = true
    lost(error)
  }

  const rest = () => {
    working = undefined
    if (nextClient(table) !== undefined) start()
    else if (!table.closed) idleTimer = setTimeout(dismissIdle, transactionIdleMs)
  }

  const dismissIdle = () => {
    if (table.holder === undefined) return
    const message = `a transaction was idle for more than ${transactionIdleMs} ms`
    warn(`${message}; it was rolled back and its connection closed`)
    table.holder.dismiss('25P03', message)
  }

  return {
    submit(client, unit) {
      client.units.push(unit)
      if (client !== table.holder) table.waiting.add(client)
      start()
    },
    leave(client) {
      client.gone = true
      client.units.length = 0
      start()
    },
    async close() {
      table.closed = true
      clearTimeout(idleTimer)
      await working
      if (table.holder !== undefined) await session.rollBack()
    },
  }
}

function nextClient({ closed, holder, waiting }: Table): Client | undefined {
  if (closed) return undefined
  if (holder !== undefined) return holder.gone || holder.units.length > 0 ? holder : undefined
  const [first] = waiting
  return first
}

type Work = Pick<TurnOptions, 'session' | 'busyFor'>

async function work(options: Work, table: Table): Promise<void> {
  let sliceEnd = performance.now() + sliceMs
  for (let client = nextClient(table); client !== undefined; client = nextClient(table)) {
    await turn(options, table, client)
    if (performance.now() < sliceEnd) continue
    await afterInputAndOutput()
    sliceEnd = performance.now() + sliceMs
  }
}

async function turn({ session, busyFor }: Work, table: Table, client: Client): Promise<void> {
  table.waiting.delete(client)
  if (client.gone) {
    if (client !== table.holder) return
    await session.rollBack()
    table.holder = undefined
    await session.tidy()
    return
  }
  const unit = client.units.shift()
  if (unit === undefined) return
  busyFor(client.statementLimitMs)
  const { response, free } = await session.run(unit)
  client.send(response)
  table.holder = free ? undefined : client
  if (!free) return
  if (client.units.length > 0) table.waiting.add(client)
  await session.tidy()
}
