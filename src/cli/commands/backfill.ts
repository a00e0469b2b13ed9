import type { Command } from 'commander'
import type { BackfillResult } from '../../billing/types.ts'
import { builtinSummaries } from '../../gateways/builtin-summaries.ts'
import { addExamples } from '../examples.ts'
import { print, printJson } from '../output.ts'
import { readSince } from '../read-time.ts'

interface BackfillCommandOptions {
  readonly gateway: string
  readonly since: Date
  readonly json?: boolean
}

export function addBackfill(program: Command): void {
  const gateway = builtinSummaries.find(({ backfill }) => backfill)?.name ?? 'NAME'
  const backfillCommand = program
    .command('backfill')
    .description('store the events that a provider could not deliver')
    .requiredOption('--gateway <name>', 'whose events, by name or alias')
    .requiredOption('--since <time>', 'not older, e.g. 2h, 3d or 2026-11-20T09:30Z', readSince)
    .action(backfill)
  addExamples(backfillCommand, [
    [`backfill --gateway ${gateway} --since 2h`, 'after an outage'],
    [`backfill --gateway ${gateway} --since 2026-11-20`],
  ])
}

async function backfill(_options: unknown, command: Command): Promise<void> {
  const { gateway, since, json } = command.optsWithGlobals<BackfillCommandOptions>()
  const { withCore } = await import('../open-core.ts')
  const { percent, withProgress } = await import('../progress.ts')
  const { listed, stored } = await withCore((core, { warnAbout }) => {
    warnAbout(gateway)
    return withProgress(
      'read',
      (tell) => {
        const onProgress = (part: number) => tell?.(Math.floor(part * 100), 100)
        return core.backfill({ gateway, since, onProgress })
      },
      percent,
    )
  })
  if (json === true) printJson({ listed, stored, known: listed - stored })
  else for (const line of summary({ listed, stored })) print(line)
}

function summary({ listed, stored }: BackfillResult): readonly string[] {
  const events = listed === 1 ? '1 event is' : `${listed} events are`
  const line = `${events} listed: ${stored} new and stored, ${listed - stored} known already.`
  return stored === 0 ? [line] : [line, 'A running service or worker processes what was stored.']
}
