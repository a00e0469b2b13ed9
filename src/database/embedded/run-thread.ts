import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { FromThread, ToThread, ThreadOptions } from './messages.ts'

/** Why a thread could not be started. */
export interface Refusal {
  readonly reason: string
  /** The thread's own report, no code that could run, or no answer in time. */
  readonly cause: 'database' | 'code' | 'time'
}

export interface RunOptions {
  readonly thread: ThreadOptions
  readonly warn: (message: string) => void
  /** Called at most once, after the start, when the thread ended or hangs; not after `stop`. */
  readonly lost: (reason: string) => void
  /** Where a client would wait for longer, that is the limit of its statements. */
  readonly hungAfterMs: number
}

export interface RunningThread {
  /** Asks the thread to end in good order, and ends it if it does not. Never rejects. */
  stop(): Promise<void>
}

/** A second on an idle machine, many times that on a busy one. */
const openLimitMs = 120_000
const closeLimitMs = 10_000
const pingIntervalMs = 1000

/** Starts the thread and watches it from then on. */
export async function runThread(options: RunOptions): Promise<RunningThread | Refusal> {
  const thread = createThread(options.thread)
  const refusal = await firstReport(thread)
  if (refusal !== undefined) {
    await thread.terminate()
    return refusal
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
    void end(() => thread.terminate()).then(() => options.lost(reason))
  }
  const pings = watch(thread, options, lose)
  return {
    async stop() {
      await end(() => stopThread(thread))
    },
  }
}

/** `tsc` leaves a URL as written: the extension is that of the running file. */
function createThread(workerData: ThreadOptions): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const thread = new Worker(new URL(`./thread.${extension}`, import.meta.url), {
    workerData,
    // Flags of the process, such as --eval, do not concern the thread.
    execArgv: [],
    stdout: true,
    stderr: true,
  })
  // PGlite and its runtime print; what matters arrives as a message.
  thread.stdout.resume()
  thread.stderr.resume()
  return thread
}

/** Resolves when the database is open, or with the reason why it is not. */
function firstReport(thread: Worker): Promise<Refusal | undefined> {
  return new Promise((resolve) => {
    let cause: Refusal['cause'] = 'code'
    const finish = (refusal?: Refusal) => {
      clearTimeout(timer)
      thread.off('error', onError).off('exit', onExit).off('message', onMessage)
      resolve(refusal)
    }
    const refuse = (reason: string) => finish({ reason, cause })
    const onError = (error: unknown) => refuse(describe(error))
    const onExit = (code: number) => refuse(`its thread ended with code ${code}`)
    const onMessage = (message: FromThread) => {
      if (message.kind === 'loaded') cause = 'database'
      if (message.kind === 'ready') finish()
      if (message.kind === 'refused') refuse(message.reason)
    }
    const late: Refusal = { reason: `it took over ${openLimitMs} ms`, cause: 'time' }
    const timer = setTimeout(() => finish(late), openLimitMs)
    thread.on('error', onError).on('exit', onExit).on('message', onMessage)
  })
}

/**
 * Counts pings without an answer instead of comparing times: a main thread that was busy or a
 * machine that slept is not the thread's fault.
 */
function watch(thread: Worker, options: RunOptions, lose: (reason: string) => void) {
  let unanswered = 0
  let limitMs = options.hungAfterMs
  const intervalMs = Math.min(pingIntervalMs, options.hungAfterMs)
  thread.on('error', (error) => lose(describe(error)))
  thread.on('exit', (code) => lose(`its thread ended with code ${code}`))
  thread.on('message', (message: FromThread) => {
    // Either is a sign of life; after a long statement pings still wait for their answers.
    if (message.kind === 'pong' || message.kind === 'limit') unanswered = 0
    if (message.kind === 'limit') limitMs = Math.max(message.limitMs, options.hungAfterMs)
    if (message.kind === 'warning') options.warn(message.message)
    if (message.kind === 'lost') lose(message.reason)
  })
  return setInterval(() => {
    if (unanswered * intervalMs >= limitMs) {
      lose(`its thread did not answer for ${limitMs} ms`)
      return
    }
    unanswered += 1
    send(thread, { kind: 'ping' })
  }, intervalMs).unref()
}

async function stopThread(thread: Worker): Promise<void> {
  const done = new Promise<void>((resolve) => {
    thread.on('exit', () => resolve())
    thread.on('message', (message: FromThread) => {
      if (message.kind === 'closed' || message.kind === 'lost') resolve()
    })
  })
  send(thread, { kind: 'close' })
  const limit = new AbortController()
  await Promise.race([done, pause(closeLimitMs, undefined, { signal: limit.signal })])
  limit.abort()
  await thread.terminate()
}

function send(thread: Worker, message: ToThread): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  thread.postMessage(message)
}

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error))
