import type { Command } from 'commander'
import { addExamples } from '../examples.ts'
import { print, printJson } from '../output.ts'

export function addPrune(program: Command): void {
  const pruneCommand = program
    .command('prune')
    .description('delete stored calls that are older than the retention window')
    .action(prune)
  addExamples(pruneCommand, [['prune', 'the service does it daily, too']])
}

async function prune(_options: unknown, command: Command): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  const { withProgress } = await import('../progress.ts')
  const result = await withCore((core) =>
    withProgress('deleted', (onProgress) => core.prune(onProgress)),
  )
  if (command.optsWithGlobals<{ json?: boolean }>().json === true) {
    printJson({
      deleted_calls: result.deletedCalls,
      deleted_failed_calls: result.deletedFailedCalls,
    })
    return
  }
  const failed = result.deletedFailedCalls
  const ofThose = failed === 0 ? '' : `, of which ${failed} had failed`
  print(`Deleted ${result.deletedCalls} stored calls${ofThose}.`)
}
