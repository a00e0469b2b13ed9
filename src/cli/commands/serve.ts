import { InvalidArgumentError, type Command } from 'commander'
import { availableParallelism } from 'node:os'
import { addExamples } from '../examples.ts'
import { readyMessage } from '../ready-message.ts'

const mostProcesses = 64

interface ServeOptions {
  /** False with `--no-worker`. */
  readonly worker: boolean
  readonly json?: boolean
  /** `auto`: as many as there are processors. */
  readonly processes?: number | 'auto'
}

export function addServe(program: Command): void {
  const serveCommand = program
    .command('serve')
    .description('take callbacks, and process them unless --no-worker is given')
    .option('--no-worker', 'leave processing to `quittance work` (PostgreSQL)')
    .option(
      '--processes <count>',
      'serve in so many processes, or `auto`: one for each processor (PostgreSQL)',
      readCount,
    )
    .action(serve)
  addExamples(serveCommand, [
    ['serve', 'everything in one process'],
    ['serve --no-worker', 'beside `quittance work`'],
    ['serve --processes 2', 'in two processes on one port'],
  ])
}

function readCount(text: string): number | 'auto' {
  if (text === 'auto') return text
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= mostProcesses) return count
  throw new InvalidArgumentError(`It must be a number from 1 to ${mostProcesses}, or auto.`)
}

async function serve(_options: unknown, command: Command): Promise<void> {
  const { processes = 1, ...options } = command.optsWithGlobals<ServeOptions>()
  const count = processes === 'auto' ? availableParallelism() : processes
  if (count === 1) return serveAlone(options)
  const { default: cluster } = await import('node:cluster')
  if (cluster.isWorker) return serveAlone(options).catch(endWithError)
  const { readConfiguration } = await import('../env.ts')
  const configuration = await readConfiguration()
  const { openLog } = await import('../log.ts')
  const { supervise } = await import('../supervisor.ts')
  const { endWithParent } = await import('../end-with-parent.ts')
  const commandLog = await openLog('info')
  if (configuration.isRunByNpm) endWithParent(commandLog)
  await supervise({ count, configuration, commandLog })
}

/** The channel to the supervisor would keep the process running. */
function endWithError(error: unknown): never {
  process.channel?.unref()
  throw error
}

async function serveAlone({ worker: withWorker, json }: ServeOptions): Promise<void> {
  const { openService } = await import('../open-service.ts')
  // The database opens in its own thread; meanwhile the rest is loaded.
  const [
    service,
    { startService },
    { endOnSignals, endWithWorker },
    { announce, announceJson },
    { keepHeapSmall },
    { endWithParent },
  ] = await Promise.all([
    openService(),
    import('../start-service.ts'),
    import('../service-process.ts'),
    import('../announce.ts'),
    import('../keep-heap-small.ts'),
    import('../end-with-parent.ts'),
  ])
  keepHeapSmall()
  const { commandLog, configuration } = service
  if (configuration.process === 'console') {
    const { serveConsole } = await import('../serve-console.ts')
    return serveConsole(service)
  }
  const { http, worker, stop } = await startService(service, { upkeepOnly: !withWorker })
  const { process: place, isRunByNpm } = configuration
  endOnSignals({ commandLog, isSupervised: place !== undefined, stop })
  // A supervisor passes it on.
  if (isRunByNpm && place === undefined) endWithParent(commandLog)
  // It only informs; the service runs.
  if (place === 'further') {
    commandLog.log.info('a further process serves')
  } else if (json === true) announceJson(service, http)
  else
    await announce(service, http).catch((error: unknown) => {
      commandLog.log.warn({ err: error }, 'the start could not be announced in full')
    })
  process.send?.(readyMessage)
  await endWithWorker(worker, commandLog)
}
