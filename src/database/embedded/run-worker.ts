import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { FromWorker, ToWorker, WorkerOptions } from './messages.ts'

/** Why a worker could not be started: it reported that itself, or the time was up. */
export interface Refusal {
  readonly reason: string
  readonly timedOut: boolean
}

export interface RunOptions {
  readonly worker: WorkerOptions
  readonly warn: (message: string) => void
  /** Called at most once, after the start, when the worker ended or hangs; not after `stop`. */
  readonly lost: (reason: string) => void
  readonly hungAfterMs: number
}

export interface RunningWorker {
  readonly initialised: boolean
  /** The files of a fresh database in memory, for the next one. */
  readonly template?: Blob | undefined
  /** Asks the worker to end in good order, and ends it if it does not. Never rejects. */
  stop(): Promise<void>
}

/** The first start makes the database: 3 s on an idle machine, many times that on a busy one. */
const openLimitMs = 120_000
const closeLimitMs = 10_000
const pingIntervalMs = 1000

/** Starts the worker thread and watches it from then on. */
export async function runWorker(options: RunOptions): Promise<RunningWorker | Refusal> {
  const worker = createWorker(options.worker)
  const first = await firstReport(worker)
  if ('reason' in first) {
    await worker.terminate()
    return first
  }
  // One ending, whoever asked first: the folder is freed only when the thread is gone.
  let ending: Promise<unknown> | undefined
  const end = (how: () => Promise<unknown>): Promise<unknown> => {
    clearInterval(pings)
    ending ??= how()
    return ending
  }
  const lose = (reason: string) => {
    if (ending !== undefined) return
    void end(() => worker.terminate()).then(() => options.lost(reason))
  }
  const pings = watch(worker, options, lose)
  return {
    ...first,
    async stop() {
      await end(() => stopWorker(worker))
    },
  }
}

/** `tsc` leaves a URL as written: the extension is that of the running file. */
function createWorker(workerData: WorkerOptions): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const worker = new Worker(new URL(`./worker.${extension}`, import.meta.url), {
    workerData,
    // Flags of the process, such as --eval, do not concern the thread.
    execArgv: [],
    stdout: true,
    stderr: true,
  })
  // PGlite and its runtime print; what matters arrives as a message.
  worker.stdout.resume()
  worker.stderr.resume()
  return worker
}

type Start = Refusal | Pick<RunningWorker, 'initialised' | 'template'>

function firstReport(worker: Worker): Promise<Start> {
  return new Promise((resolve) => {
    const finish = (start: Start) => {
      clearTimeout(timer)
      worker.off('error', onError).off('exit', onExit).off('message', onMessage)
      resolve(start)
    }
    const refuse = (reason: string, timedOut = false) => finish({ reason, timedOut })
    const onError = (error: unknown) => refuse(describe(error))
    const onExit = (code: number) => refuse(`its thread ended with code ${code}`)
    const onMessage = (message: FromWorker) => {
      if (message.kind === 'ready') {
        finish({ initialised: message.initialised, template: message.template })
      }
      if (message.kind === 'refused') refuse(message.reason)
    }
    const timer = setTimeout(() => refuse(`it took over ${openLimitMs} ms`, true), openLimitMs)
    worker.on('error', onError).on('exit', onExit).on('message', onMessage)
  })
}

/**
 * Counts pings without an answer instead of comparing times: a main thread that was busy or a
 * machine that slept is not the worker's fault.
 */
function watch(worker: Worker, options: RunOptions, lose: (reason: string) => void) {
  let unanswered = 0
  const intervalMs = Math.min(pingIntervalMs, options.hungAfterMs)
  worker.on('error', (error) => lose(describe(error)))
  worker.on('exit', (code) => lose(`its thread ended with code ${code}`))
  worker.on('message', (message: FromWorker) => {
    if (message.kind === 'pong') unanswered = 0
    if (message.kind === 'warning') options.warn(message.message)
    if (message.kind === 'lost') lose(message.reason)
  })
  return setInterval(() => {
    if (unanswered * intervalMs >= options.hungAfterMs) {
      lose(`its thread did not answer for ${options.hungAfterMs} ms`)
      return
    }
    unanswered += 1
    send(worker, { kind: 'ping' })
  }, intervalMs).unref()
}

async function stopWorker(worker: Worker): Promise<void> {
  const done = new Promise<void>((resolve) => {
    worker.on('exit', () => resolve())
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'closed' || message.kind === 'lost') resolve()
    })
  })
  send(worker, { kind: 'close' })
  const limit = new AbortController()
  await Promise.race([done, pause(closeLimitMs, undefined, { signal: limit.signal })])
  limit.abort()
  await worker.terminate()
}

function send(worker: Worker, message: ToWorker): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  worker.postMessage(message)
}

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error))
