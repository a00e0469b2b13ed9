import { Option, type Command } from 'commander'
import type { CreateSubscriptionInput } from '../../money/subscription-input.ts'
import { managers } from '../../subscriptions/subscription.ts'
import { addExamples, exampleGateway } from '../examples.ts'
import { print, printJson } from '../output.ts'
import { readAmount } from '../read-amount.ts'
import { readCount } from '../read-count.ts'
import { readIntervalOption } from '../read-interval.ts'
import { readJson } from '../read-json.ts'
import { readPayable } from '../read-payable.ts'
import { readTime } from '../read-time.ts'

type SameName = Omit<CreateSubscriptionInput, 'live' | 'trialDays' | 'paymentMethodId'>

interface CreateOptions extends SameName {
  readonly trialDays?: number
  readonly live?: boolean
  readonly test?: boolean
  readonly paymentMethod?: string
  readonly json?: boolean
  readonly verbose?: boolean
}

export function addCreateSubscription(subscriptions: Command): void {
  const createCommand = subscriptions
    .command('create')
    .description('make a subscription, and charge a saved card or open a checkout')
    .requiredOption('--gateway <name>', 'one that charges saved cards, or manages subscriptions')
    .requiredOption('--payable <type:id>', 'whom it is for, e.g. account:7', readPayable)
    .addOption(
      new Option('--managed-by <who>', 'who charges each period: we do, or the provider')
        .choices(managers)
        .default('local'),
    )
    .option('--plan <name>', 'a plan of the settings, which is copied')
    .option('--amount <units>', 'of a period, in minor units, e.g. 1999 for 19.99', readAmount)
    .option('--currency <code>', 'ISO 4217 code, e.g. UAH')
    .option('--every <length>', 'month, "3 months", year, ...', readIntervalOption)
    .option('--trial-days <days>', 'days without pay before the first period', readCount)
    .option('--trial-ends-at <time>', 'the same, exactly', readTime)
    .option('--payment-method <id>', 'a saved card to charge; else the payer gets a checkout')
    .option(
      '--paid-until <time>',
      'brought from another system, and paid there until then',
      readTime,
    )
    .option('--grace-access', 'access while a declined renewal is tried again')
    .option('--no-grace-access', 'no access then')
    .option('--time-zone <name>', 'in whose days and months periods are counted')
    .option('--id <uuid>', 'an id of your own: makes the command repeatable')
    .option('--description <text>', 'what the payer and the operator read')
    .option('--return-url <url>', 'where the browser goes after the first payment')
    .option('--customer <json>', 'a JSON object', readJson)
    .option('--metadata <json>', 'a JSON object', readJson)
    .option('--quotas <json>', 'what it may use: {"api_calls":{"limit":1000}}', readJson)
    .option('--merchant-account <id>', 'the provider’s id of the account that gets the money')
    .addOption(new Option('--live', 'live money').conflicts('test'))
    .option('--test', 'the provider’s test mode')
    .action(create)
  const line = `subscriptions create --gateway ${exampleGateway} --payable account:7`
  addExamples(createCommand, [
    [`${line} --amount 19900 --currency UAH --every month`],
    [`${line} --plan pro --trial-days 14`],
  ])
}

async function create(_options: unknown, command: Command): Promise<void> {
  const { json, ...options } = command.optsWithGlobals<CreateOptions>()
  const { createdSubscriptionView } = await import('../../wire/subscription.ts')
  const { printSubscription } = await import('../print-subscription.ts')
  const { withCore } = await import('../open-core.ts')
  const { created, details } = await withCore(async (core, { warnAbout }) => {
    warnAbout(options.gateway)
    const made = await core.subscriptions.create(inputOf(options))
    return { created: made, details: await core.subscriptions.get(made.subscription.id) }
  })
  if (json === true) {
    printJson(createdSubscriptionView(created))
    return
  }
  const { printPayment } = await import('../print-payment.ts')
  const { printNext } = await import('../print-next.ts')
  printSubscription(created.subscription)
  if (details !== undefined) printNext(details)
  if (created.payment === null) return
  print()
  printPayment(created.payment)
}

function inputOf(options: Omit<CreateOptions, 'json'>): CreateSubscriptionInput {
  const { live, test, paymentMethod, verbose: _, ...same } = options
  const mode = live === true ? { live: true } : test === true ? { live: false } : {}
  return {
    ...same,
    ...mode,
    ...(paymentMethod !== undefined && { paymentMethodId: paymentMethod }),
  }
}
