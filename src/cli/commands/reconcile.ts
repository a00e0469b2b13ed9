import type { Command } from 'commander'
import type { ReconcileResult } from '../../billing/types.ts'
import { addExamples, exampleGateway } from '../examples.ts'
import { counted } from '../../kernel/counted.ts'
import { print, printJson } from '../output.ts'

interface ReconcileOptions {
  readonly gateway?: string
  readonly json?: boolean
}

export function addReconcile(program: Command): void {
  const reconcileCommand = program
    .command('reconcile')
    .description('poll every payment that is due, and repair events')
    .option('--gateway <name>', 'only payments of this gateway')
    .action(reconcile)
  addExamples(reconcileCommand, [
    ['reconcile', 'the service does it every minute, too'],
    [`reconcile --gateway ${exampleGateway}`],
  ])
}

async function reconcile(_options: unknown, command: Command): Promise<void> {
  const { gateway, json } = command.optsWithGlobals<ReconcileOptions>()
  const { withCore } = await import('../open-core.ts')
  const { withProgress } = await import('../progress.ts')
  const result = await withCore((core) =>
    withProgress('asked about', (onProgress) => core.reconcile({ gateway, onProgress })),
  )
  if (json === true) printJson(result)
  else print(summary(result))
  const trouble = troubleIn(result)
  if (trouble === undefined) return
  process.exitCode = 1
  if (json === true) return
  process.stderr.write(`quittance: ${trouble}\n`)
}

function summary({ polled, changed, failed, repaired }: ReconcileResult): string {
  const counts = [
    `${changed} changed`,
    `${failed} failed`,
    `${counted(repaired, 'event')} repaired`,
  ]
  return `Asked about ${counted(polled, 'payment')}: ${counts.join(', ')}.`
}

function troubleIn({ failed, unreachable }: ReconcileResult): string | undefined {
  if (unreachable.length > 0) {
    const names = unreachable.join(', ')
    return `out of reach: ${names} — Check the network and the API base; then run it again.`
  }
  if (failed === 0) return undefined
  const payments = failed === 1 ? '1 payment was' : `${failed} payments were`
  return `${payments} not asked about — See the reasons above; quittance poll ID tries one again.`
}
