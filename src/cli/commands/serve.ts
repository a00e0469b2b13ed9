import type { Command } from 'commander'
import { addExamples } from '../examples.ts'

interface ServeOptions {
  /** False with `--no-worker`. */
  readonly worker: boolean
  readonly json?: boolean
}

export function addServe(program: Command): void {
  const serveCommand = program
    .command('serve')
    .description('take callbacks, and process them unless --no-worker is given')
    .option('--no-worker', 'leave processing to `quittance work` (PostgreSQL)')
    .action(serve)
  addExamples(serveCommand, [
    ['serve', 'everything in one process'],
    ['serve --no-worker', 'beside `quittance work`'],
  ])
}

async function serve(_options: unknown, command: Command): Promise<void> {
  const { worker: withWorker, json } = command.optsWithGlobals<ServeOptions>()
  const { openService, orClose } = await import('../open-service.ts')
  // The database opens in its own thread; meanwhile the rest is loaded.
  const [service, { startHttp }, { endOnSignals, endWithWorker }, { announce, announceJson }] =
    await Promise.all([
      openService(),
      import('../start-http.ts'),
      import('../service-process.ts'),
      import('../announce.ts'),
    ])
  const { core, commandLog } = service
  const worker = await orClose(core, () => core.work({ upkeepOnly: !withWorker }))
  const http = await orClose(core, () => startHttp(service))
  endOnSignals({
    commandLog,
    stop: async () => {
      await http.stop()
      await worker.stop()
      await core.close()
    },
  })
  // It only informs; the service runs.
  if (json === true) announceJson(service, http)
  else
    await announce(service, http).catch((error: unknown) => {
      commandLog.log.warn({ err: error }, 'the start could not be announced in full')
    })
  await endWithWorker(worker, commandLog)
}
