import type { Command } from 'commander'
import { counted } from '../../kernel/counted.ts'
import type { ListedSubscription } from '../../wire/subscription.ts'
import { addExamples } from '../examples.ts'
import { print, printJson, printTable, shortTime, visible } from '../output.ts'
import { readLimit } from '../paging.ts'
import { readWithin } from '../read-time.ts'

interface JsonOption {
  readonly json?: boolean
}

/** What keeps subscriptions going, by hand. */
export function addRunSubscriptions(subscriptions: Command): void {
  const dueCommand = subscriptions
    .command('due')
    .description('those that something is to be done for, the earliest first')
    .option('--within <length>', 'from now on, e.g. 1d (default: what is due now)', readWithin)
    .option('--limit <count>', 'how many, 1 to 100 (default: 20)', readLimit)
    .action(due)
  addExamples(dueCommand, [['subscriptions due --within 1d']])
  const runCommand = subscriptions
    .command('run')
    .description('do what is due: charge, end, notify')
    .action(run)
  addExamples(runCommand, [['subscriptions run', 'the service does it all the time, too']])
  const holdCommand = subscriptions
    .command('hold')
    .description('stop all charges of periods at once; ends and notices go on')
    .argument('<reason>')
    .action(hold)
  addExamples(holdCommand, [['subscriptions hold wrong-prices']])
  const releaseCommand = subscriptions
    .command('release')
    .description('let charges go on, those of gateways that rest too')
    .action(release)
  addExamples(releaseCommand, [['subscriptions release']])
}

interface DueOptions extends JsonOption {
  readonly within?: Date
  readonly limit?: number
}

async function due(_options: unknown, command: Command): Promise<void> {
  const { within, limit, json } = command.optsWithGlobals<DueOptions>()
  const { subscriptionView } = await import('../../wire/subscription.ts')
  const { withCore } = await import('../open-core.ts')
  const found = await withCore((core) =>
    core.subscriptions.due({
      ...(within !== undefined && { until: within }),
      ...(limit !== undefined && { limit }),
    }),
  )
  if (json === true) {
    printJson({ data: found.map(subscriptionView) })
    return
  }
  if (found.length === 0) {
    print('Nothing is due.')
    return
  }
  const { moneyText } = await import('../../kernel/money.ts')
  const rows = found.map((one) => [
    one.id,
    one.nextActionAt === null ? '' : shortTime(one.nextActionAt),
    one.status,
    whatIsDue(one),
    moneyText(one.nextTerms ?? one),
    one.gateway,
  ])
  printTable({ headings: ['id', 'due (UTC)', 'status', 'what', 'price', 'gateway'], rows })
}

/** In a word; which of several comes first is decided when it is due. */
function whatIsDue(subscription: ListedSubscription): string {
  const { nextActionAt, status, cancelAt, pauseAt, resumeAt, trialEndsAt, paidUntil } = subscription
  const isAt = (time: Date | null) => time?.getTime() === nextActionAt?.getTime()
  if (isAt(cancelAt)) return 'ends'
  if (isAt(pauseAt)) return 'pauses'
  if (isAt(resumeAt)) return 'resumes'
  if (status === 'trialing' && isAt(trialEndsAt)) return 'trial ends'
  if (status === 'active' && isAt(paidUntil)) return 'renews'
  if (status === 'past_due') return 'retry or end'
  if (status === 'incomplete') return 'first payment'
  // A notice comes before the end that it announces.
  const end = status === 'trialing' ? trialEndsAt : paidUntil
  const isBefore = nextActionAt !== null && end !== null && nextActionAt < end
  return isBefore ? 'notice' : 'charge'
}

async function run(_options: unknown, command: Command): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  const result = await withCore((core) => core.subscriptions.runDue())
  if (command.optsWithGlobals<JsonOption>().json === true) printJson(result)
  else print(`Did ${counted(result.steps, 'step')}.`)
}

async function hold(reason: string, _options: unknown, command: Command): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  await withCore((core) => core.subscriptions.hold(reason))
  if (command.optsWithGlobals<JsonOption>().json === true) printJson({ held: reason })
  else print(visible(`No period is charged until: quittance subscriptions release (${reason})`))
}

async function release(_options: unknown, command: Command): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  await withCore((core) => core.subscriptions.release())
  if (command.optsWithGlobals<JsonOption>().json === true) printJson({ held: null })
  else print('Periods are charged again: what is late, within the hour.')
}
