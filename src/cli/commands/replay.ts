import type { Command } from 'commander'
import { counted } from '../../kernel/counted.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import { addExamples } from '../examples.ts'
import { print, printJson } from '../output.ts'
import { readSince } from '../read-time.ts'

interface ReplayOptions {
  readonly failed?: boolean
  readonly gateway?: string
  readonly since?: Date
  readonly json?: boolean
}

export function addReplay(calls: Command): void {
  const replayCommand = calls
    .command('replay')
    .description('process a callback again, or all that failed; no event fires twice')
    .argument('[id]')
    .option('--failed', 'every call, delivery and deferred event that failed for good')
    .option('--gateway <name>', 'with --failed: only of this gateway')
    .option('--since <time>', 'with --failed: not older, e.g. 24h or 2026-11-20', readSince)
    .action(replay)
  addExamples(replayCommand, [
    ['calls replay 0190163d-8694-739b-aea5-966c26f8ad90'],
    ['calls replay --failed --since 24h'],
  ])
}

async function replay(id: string | undefined, _options: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<ReplayOptions>()
  if (options.failed === true && id === undefined) return replayFailed(options)
  if (id === undefined) throw new QuittanceError('usage', 'give the id of a call, or --failed')
  if (options.failed ?? options.gateway ?? options.since) {
    throw new QuittanceError('usage', 'give either the id of a call, or --failed with its filters')
  }
  await replayOne(id, options.json === true)
}

async function replayOne(id: string, json: boolean): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  await withCore((core) => core.calls.replay(id))
  if (json) printJson({ queued: id })
  else print(`Queued ${id} again. A worker processes it.`)
}

async function replayFailed({ gateway, since, json }: ReplayOptions): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  const { gatewayQuery } = await import('../gateway-query.ts')
  const { withProgress } = await import('../progress.ts')
  const { replayedCalls, replayedDeliveries } = await withCore((core) => {
    const query = { ...gatewayQuery(core, gateway), ...(since !== undefined && { since }) }
    return withProgress('queued', (onProgress) => core.calls.replayFailed(query, onProgress))
  })
  if (json === true) {
    printJson({ replayed_calls: replayedCalls, replayed_deliveries: replayedDeliveries })
  } else if (replayedCalls + replayedDeliveries === 0) {
    print('Nothing has failed.')
  } else {
    const also =
      replayedDeliveries === 1 ? ' and 1 delivery' : ` and ${replayedDeliveries} deliveries`
    const deliveries = replayedDeliveries === 0 ? '' : also
    print(`Queued ${counted(replayedCalls, 'call')}${deliveries} again. A worker processes them.`)
  }
}
