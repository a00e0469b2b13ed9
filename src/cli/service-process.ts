import type { Worker } from '../worker/worker.ts'
import { describeError } from './describe-error.ts'
import type { CommandLog } from './log.ts'

export interface ServiceParts {
  readonly commandLog: CommandLog
  /**
   * A supervisor passes SIGTERM on, and ends who does not stop at the second one. It decides about
   * SIGINT, which a terminal sends to both.
   */
  readonly isSupervised?: boolean
  /** Finishes what is under way and closes everything, in order. */
  readonly stop: () => Promise<void>
}

/** Longer than all the grace periods of an orderly stop together. */
const stopTimeoutMs = 30_000

/**
 * Ends the process in order on SIGTERM or SIGINT (exit code 0), at once on a second one (1), and
 * with one clear line if an error is not handled (1).
 */
export function endOnSignals({
  commandLog: { log, flush },
  isSupervised = false,
  stop,
}: ServiceParts): void {
  let stopping = false
  const end = async (code: number): Promise<never> => {
    await flush()
    process.exit(code)
  }
  const stopInOrder = async (signal: NodeJS.Signals) => {
    log.info({ signal }, 'stopping')
    setTimeout(() => {
      log.fatal(`not stopped within ${stopTimeoutMs / 1000} s`)
      void end(1)
    }, stopTimeoutMs).unref()
    await stop()
    log.info('stopped')
    await end(0)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    // systemd and others signal all processes themselves, beside the supervisor.
    if (stopping && isSupervised) return
    if (stopping) process.exit(1)
    stopping = true
    stopInOrder(signal).catch((error: unknown) => {
      log.fatal({ err: error }, 'stopping failed')
      void end(1)
    })
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', isSupervised ? () => {} : onSignal)
  process.on('uncaughtException', (error: unknown) => {
    log.fatal({ err: error }, 'uncaught exception')
    void end(1)
  })
  process.on('unhandledRejection', (error: unknown) => {
    log.fatal({ err: error }, 'unhandled rejection')
    void end(1)
  })
}

/** A worker that gives up takes the process with it: its supervisor restarts it. */
export async function endWithWorker(worker: Worker, commandLog: CommandLog): Promise<void> {
  const error = await worker.ended
  if (error !== undefined) await endWithError(error, commandLog)
}

/** For what this process cannot recover from: one line, exit code 1. */
export async function endWithError(error: Error, { say, flush }: CommandLog): Promise<never> {
  say(`quittance: ${describeError(error)}`)
  await flush()
  process.exit(1)
}
