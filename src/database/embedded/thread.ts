import process from 'node:process'
import { parentPort, workerData } from 'node:worker_threads'
import { readStillClock } from '../../kernel/clock.ts'
import type { FromThread, ToThread, ThreadOptions } from './messages.ts'
import { openPglite, type OpenPglite } from './open-pglite.ts'
import { serveSocket, type SocketServer } from './serve-socket.ts'
import { createSession } from './session.ts'
import { createTurns, type Client, type Turns } from './turns.ts'
import { query } from './wire-protocol.ts'

/** The entry of the embedded database's thread: the database, its socket, and answers to the watchdog. */

/** PostgreSQL's single-user mode makes no checkpoints: the log would grow until the next stop. */
const checkpointIntervalMs = 60_000

/** What PostgreSQL and its runtime say when the session cannot go on. */
const endOfSession = /\b(?:PANIC|FATAL): |^Aborted\(/

function post(message: FromThread): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  parentPort?.postMessage(message)
}

/**
 * Reports the loss and ends the thread at once. It may be called from inside the database, which
 * after a PANIC would otherwise be called again and again and never release the thread.
 */
function lose(reason: unknown): never {
  post({ kind: 'lost', reason: describe(reason) })
  return process.exit(1)
}

const describe = (reason: unknown) => (reason instanceof Error ? reason.message : String(reason))

interface RunningDatabase {
  readonly database: OpenPglite
  readonly server: SocketServer
  readonly checkpoints: NodeJS.Timeout
}

async function start(options: ThreadOptions): Promise<RunningDatabase> {
  let opened = false
  const lines: string[] = []
  const database = await openPglite(options.databaseFolder, (line) => {
    if (!endOfSession.test(line)) return
    if (opened) lose(line)
    else lines.push(line)
  }).catch((error: unknown) => {
    throw new Error(lines[0] ?? describe(error), { cause: error })
  })
  opened = true
  if (options.clock !== undefined) liveBy(options.clock)
  let used = false
  let limitMs = 0
  const turns = createTurns({
    session: createSession((bytes) => {
      used = true
      return database.run(bytes)
    }),
    busyFor: (statementLimitMs) => {
      if (statementLimitMs === limitMs) return
      limitMs = statementLimitMs
      post({ kind: 'limit', limitMs })
    },
    lost: lose,
    warn: (message) => post({ kind: 'warning', message }),
    transactionIdleMs: options.transactionIdleMs,
  })
  const server = await serveSocket({ ...options, turns, parameters: database.parameters })
  const checkpoints = setInterval(() => {
    if (used) checkpoint(turns)
    used = false
  }, checkpointIntervalMs)
  post({ kind: 'ready' })
  return { database, server, checkpoints }
}

/** All that PostgreSQL's runtime knows of the time of day is `Date.now`, and this thread is its own. */
function liveBy(clock: SharedArrayBuffer): void {
  const cell = new Float64Array(clock)
  Date.now = () => readStillClock(cell)
}

/** Takes its turn like any client; nobody reads the answer. */
function checkpoint(turns: Turns): void {
  const client: Client = {
    units: [],
    gone: false,
    statementLimitMs: 0,
    send: ignore,
    dismiss: ignore,
  }
  turns.submit(client, { bytes: query('checkpoint'), complete: true })
}

const ignore = () => undefined

async function stop({ database, server, checkpoints }: RunningDatabase): Promise<void> {
  clearInterval(checkpoints)
  await server.close()
  await database.close()
  post({ kind: 'closed' })
  parentPort?.close()
}

async function main(options: ThreadOptions): Promise<void> {
  const running = await start(options).catch((error: unknown) => {
    post({ kind: 'refused', reason: describe(error) })
    return undefined
  })
  if (running === undefined) return process.exit(1)
  parentPort?.on('message', (message: ToThread) => {
    if (message.kind === 'ping') post({ kind: 'pong' })
    else stop(running).catch(lose)
  })
}

// Only run-thread.ts starts this thread.
post({ kind: 'loaded' })
await main(workerData as ThreadOptions)
