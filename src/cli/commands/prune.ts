import type { Command } from 'commander'
import { print, printJson } from '../output.ts'

export function addPrune(program: Command): void {
  program
    .command('prune')
    .description('delete stored calls that are older than the retention window')
    .action(async (_options: unknown, command: Command) => {
      const { withCore } = await import('../open-core.ts')
      const json = command.optsWithGlobals<{ json?: boolean }>().json === true
      const result = await withCore((core) => core.prune(json ? undefined : showProgress))
      if (json) {
        printJson({
          deleted_calls: result.deletedCalls,
          deleted_failed_calls: result.deletedFailedCalls,
        })
        return
      }
      clearProgress()
      const failed = result.deletedFailedCalls
      const ofThose = failed === 0 ? '' : `, of which ${failed} had failed`
      print(`Deleted ${result.deletedCalls} stored calls${ofThose}.`)
    })
}

function showProgress(deletedCalls: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\rdeleted ${deletedCalls} `)
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001B[K')
}
