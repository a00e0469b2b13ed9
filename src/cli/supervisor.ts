import cluster, { type Worker } from 'node:cluster'
import { minutes, seconds, type Duration } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { newRunToken, type Configuration } from './env.ts'
import type { CommandLog } from './log.ts'
import { countForAll } from './cluster-limits.ts'
import { answerMetrics, openClusterMetrics } from './cluster-metrics.ts'
import { isConsoleOn } from './open-console.ts'
import { readyMessage } from './ready-message.ts'
import { startMetrics } from './start-operations.ts'

const shortestPause: Duration = seconds(1)
const longestPause: Duration = minutes(1)
/** A process that has lived this long was well: the pause after it is short again. */
const wellAfter: Duration = minutes(1)

type Place = NonNullable<Configuration['process']>

/** What starts by itself before the others, and what takes its place once it has ended. */
const console: readonly [Place, Place] = ['console', 'console']
const serving: readonly [Place, Place] = ['first', 'further']

interface Supervised {
  readonly count: number
  readonly configuration: Configuration
  readonly commandLog: CommandLog
}

/**
 * Serves in several processes that share one port: starts them, starts a new one in place of one
 * that ends, and passes signals on. The console, where it has a port of its own, and the first that
 * serves start alone, so that a setting that is wrong is reported once. Ends this process.
 */
export async function supervise({ count, configuration, commandLog }: Supervised): Promise<void> {
  requireServer(configuration)
  const { log } = commandLog
  const hasPort = configuration.operations.port !== undefined
  const hasConsole = hasPort && isConsoleOn(configuration)
  const readMetrics = hasPort ? await openClusterMetrics() : undefined
  if (readMetrics !== undefined && !hasConsole) {
    await startMetrics(readMetrics, { configuration, commandLog })
  }
  await countForAll()
  // On a terminal, Ctrl-C reaches every process: they leave it to this one.
  cluster.setupPrimary({ args: process.argv.slice(2) })
  const env = {
    PORT: String(configuration.port),
    QUITTANCE_RUN_TOKEN: configuration.runToken ?? newRunToken(),
  }
  let stopping = false
  const fork = (place: Place) => {
    const worker = cluster.fork({ ...env, QUITTANCE_PROCESS: place })
    // A connection may be on its way to a process that has just died: its sender connects again.
    worker.on('error', (err) => {
      if (hasBegun(worker)) log.warn({ err }, 'a process could not be reached')
    })
    if (place === 'console' && readMetrics !== undefined) answerMetrics(worker, readMetrics)
    return worker
  }
  const end = stopOnSignals(() => (stopping = true), commandLog)
  const keep = async (start: () => Worker, again: Place, lastPause?: Duration): Promise<void> => {
    const begun = performance.now()
    const ended = await endOf(start)
    if (stopping) return
    if ('err' in ended) log.error(ended, 'a process could not be started; will try again')
    else log.error(ended, 'a process ended; another one starts')
    const pause = pauseAfter(performance.now() - begun, lastPause)
    setTimeout(() => {
      if (!stopping) void keep(() => fork(again), again, pause)
    }, pause)
  }
  for (const [place, again] of hasConsole ? [console, serving] : [serving]) {
    const worker = fork(place)
    const failed = await Promise.race([untilReady(worker), exitOf(worker)])
    // Who stops the processes ends this one, too.
    if (stopping) return
    if (failed !== undefined) {
      const { code, signal } = failed
      // Whoever ends by itself has said why.
      if (code === null) log.fatal({ signal }, 'the first process was ended before it served')
      return end(code ?? 1)
    }
    void keep(() => worker, again)
  }
  for (let index = 1; index < count; index += 1) void keep(() => fork('further'), 'further')
}

/** How long to wait before another process starts in place of one that ended. */
export function pauseAfter(lived: Duration, lastPause: Duration | undefined): Duration {
  if (lastPause === undefined || lived > wellAfter) return shortestPause
  return Math.min(lastPause * 2, longestPause)
}

function requireServer({ options }: Configuration): void {
  if (options.database.url !== undefined) return
  throw new QuittanceError(
    'setting_invalid',
    '--processes needs a PostgreSQL server: the embedded database belongs to one process',
    { fix: 'Set DATABASE_URL, or leave --processes out.' },
  )
}

interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

/** Otherwise there was no place for one more, or its program is gone. */
function hasBegun({ process: { pid } }: Worker): boolean {
  return pid !== undefined
}

/**
 * Rejects if the process has never begun. Unlike `once` of Node, it does not fail where a message
 * could not be sent before.
 */
function exitOf(worker: Worker): Promise<Exit> {
  return new Promise((ended, failed) => {
    worker.once('exit', (code: number | null, signal: string | null) => ended({ code, signal }))
    worker.on('error', (error) => {
      if (!hasBegun(worker)) failed(error)
    })
  })
}

/** How a process ended, or why it could not be started: Node says so at once, or later. */
async function endOf(
  start: () => Worker,
): Promise<(Exit & { readonly ended: number | undefined }) | { readonly err: unknown }> {
  try {
    const worker = start()
    return { ended: worker.process.pid, ...(await exitOf(worker)) }
  } catch (err) {
    return { err }
  }
}

function untilReady(worker: Worker): Promise<undefined> {
  return new Promise((ready) => {
    worker.on('message', (message) => {
      if (message === readyMessage) ready(undefined)
    })
  })
}

/** Stops all processes in order at the first signal, at once at the second. */
function stopOnSignals(onStop: () => void, { log, flush }: CommandLog) {
  const workers = () =>
    Object.values(cluster.workers ?? {}).flatMap((worker) =>
      // One that has just died, or could not be started, may still be listed.
      worker === undefined || worker.isDead() ? [] : [worker],
    )
  const end = async (code: number): Promise<never> => {
    await flush()
    process.exit(code)
  }
  let isSecond = false
  const onSignal = (signal: NodeJS.Signals) => {
    onStop()
    if (isSecond) {
      for (const worker of workers()) worker.process.kill('SIGKILL')
      process.exit(1)
    }
    isSecond = true
    log.info({ signal }, 'stopping all processes')
    const ended = workers().map(exitOf)
    for (const worker of workers()) worker.process.kill('SIGTERM')
    // One that was still starting ends by the signal: by this one, or by that of the terminal.
    const inOrder = ({ code, signal: by }: Exit) =>
      code === 0 || by === 'SIGTERM' || by === 'SIGINT'
    void Promise.all(ended).then((exits) => end(exits.every(inOrder) ? 0 : 1))
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return end
}
