import { InvalidArgumentError, type Command } from 'commander'
import { addExamples } from '../examples.ts'
import { print } from '../output.ts'

interface WorkOptions {
  readonly queue?: readonly string[]
  readonly json?: boolean
}

export function addWork(program: Command): void {
  const workCommand = program
    .command('work')
    .description('process stored calls; any number of these may run')
    .option('--queue <names>', 'only these queues, separated by commas (default: all)', readNames)
    .action(work)
  addExamples(workCommand, [['work'], ['work --queue billing,default']])
}

function readNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.includes('')) throw new InvalidArgumentError('It must be names, separated by commas.')
  return names
}

async function work(_options: unknown, command: Command): Promise<void> {
  const { queue, json } = command.optsWithGlobals<WorkOptions>()
  const { openService, orClose } = await import('../open-service.ts')
  const { endOnSignals, endWithWorker } = await import('../service-process.ts')
  const service = await openService()
  const { core, commandLog, configuration } = service
  const { startOperations } = await import('../start-operations.ts')
  const { keepHeapSmall } = await import('../keep-heap-small.ts')
  keepHeapSmall()
  const queues = queue === undefined ? {} : { queues: queue }
  const worker = await orClose(core, () => core.work(queues))
  const operations = await orClose(core, () => startOperations(service))
  endOnSignals({
    commandLog,
    stop: async () => {
      await worker.stop()
      await operations?.stop()
      await core.close()
    },
  })
  if (configuration.isRunByNpm) {
    const { endWithParent } = await import('../end-with-parent.ts')
    endWithParent(commandLog)
  }
  if (json === true) print(JSON.stringify({ queues: queue ?? null }))
  else print(`Quittance is waiting for calls on ${queue?.join(', ') ?? 'all queues'}.`)
  await endWithWorker(worker, commandLog)
}
