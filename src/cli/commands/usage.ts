import { InvalidArgumentError, type Command } from 'commander'
import type { BillingCore } from '../../billing/types.ts'
import type { QuotaUsage } from '../../wire/usage.ts'
import { addExamples } from '../examples.ts'
import { asksJson, found, printRows } from '../noun.ts'
import { print, printJson } from '../output.ts'

const exampleId = '0190163d-8694-739b-aea5-966c26f8ad90'

export function addUsage(program: Command): void {
  const usage = program.command('usage').description('what subscriptions use: record, show')
  const recordCommand = usage
    .command('record')
    .description('count what was used, once for a key')
    .argument('<id>')
    .argument('<quota>')
    .argument('[units]', 'how much; 1 if left out', readUnits)
    .requiredOption('--key <text>', 'names what was done: the same key counts once')
    .option('--enforce', 'only if it fits into what is left; else the command fails')
    .action(record)
  addExamples(recordCommand, [[`usage record ${exampleId} api_calls 5 --key job-17`]])
  const showCommand = usage
    .command('show')
    .description('its quotas, and what is left')
    .argument('<id>')
    .argument('[quota]', 'only this one')
    .action(show)
  addExamples(showCommand, [[`usage show ${exampleId}`]])
}

function readUnits(text: string): bigint {
  if (/^[1-9]\d{0,15}$/.test(text)) return BigInt(text)
  throw new InvalidArgumentError('It must be a positive whole number.')
}

type RecordArguments = [string, string, bigint | undefined, RecordOptions, Command]

interface RecordOptions {
  readonly key: string
  readonly enforce?: boolean
}

async function record(...args: RecordArguments): Promise<void> {
  const [subscriptionId, quota, units = 1n, { key, enforce = false }, command] = args
  const { usageResultView } = await import('../../wire/usage.ts')
  const { withCore } = await import('../open-core.ts')
  const input = { subscriptionId, quota, units, key, enforce }
  const recorded = await withCore((core) => core.usage.record(input))
  const isDone = recorded.result === 'counted' || recorded.result === 'duplicate'
  if (!isDone) process.exitCode = 1
  if (asksJson(command)) {
    printJson(usageResultView(recorded))
    return
  }
  const said = { counted: 'Counted.', duplicate: 'Counted before.', refused: 'Refused.' }
  const { used, limit, left } = recorded
  const rest = limit === null ? 'no limit' : `${left} of ${limit} left`
  print(`${said[recorded.result]} ${used} used, ${rest}.`)
}

async function show(
  subscriptionId: string,
  quota: string | undefined,
  ...[, command]: [unknown, Command]
): Promise<void> {
  const { quotaNoun } = await import('../../wire/usage.ts')
  const { withCore } = await import('../open-core.ts')
  const quotas = await withCore((core) => quotasOf(core, subscriptionId, quota))
  if (asksJson(command)) printJson({ data: quotas.map(quotaNoun.view) })
  else if (quotas.length === 0) print('No quotas.')
  else await printRows(quotas, quotaNoun)
}

async function quotasOf(
  core: BillingCore,
  id: string,
  quota: string | undefined,
): Promise<readonly QuotaUsage[]> {
  const quotas = await core.usage.get(id)
  if (quotas.length === 0) found(await core.subscriptions.get(id), 'subscription', id)
  return quota === undefined ? quotas : quotas.filter((one) => one.quota === quota)
}
