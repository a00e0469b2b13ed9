import { Option, type Command } from 'commander'
import type { BillingCore } from '../../billing/types.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import type { ChangeSubscriptionInput } from '../../money/subscription-input.ts'
import type { Payable } from '../../payments/payment.ts'
import {
  managers,
  subscriptionStatuses,
  type ManagedBy,
  type SubscriptionStatus,
} from '../../subscriptions/subscription.ts'
import type { SubscriptionDetails } from '../../wire/subscription-details.ts'
import type { ListedSubscription } from '../../wire/subscription.ts'
import { addExamples } from '../examples.ts'
import { print, printJson } from '../output.ts'
import { addPaging, type PagingOptions } from '../paging.ts'
import { readAmount } from '../read-amount.ts'
import { readIntervalOption } from '../read-interval.ts'
import { readJson } from '../read-json.ts'
import { readPayable } from '../read-payable.ts'
import { readTime } from '../read-time.ts'
import { addCreateSubscription } from './create-subscription.ts'
import { addRehearseSubscription } from './rehearse-subscription.ts'
import { addRunSubscriptions } from './run-subscriptions.ts'

const exampleId = '0190163d-8694-739b-aea5-966c26f8ad90'

interface ListOptions extends PagingOptions {
  readonly gateway?: string
  readonly status?: SubscriptionStatus
  readonly managedBy?: ManagedBy
  readonly payable?: Payable
  readonly json?: boolean
}

export function addSubscriptions(program: Command): void {
  const subscriptions = program
    .command('subscriptions')
    .description('subscriptions: create, show, list, cancel, pause, resume, change, pay, sync, ...')
  addCreateSubscription(subscriptions)
  addReading(subscriptions)
  addWishes(subscriptions)
  addRunSubscriptions(subscriptions)
  addRehearseSubscription(subscriptions)
}

function addReading(subscriptions: Command): void {
  const showCommand = subscriptions
    .command('show')
    .description('one subscription: periods, charges, events and access, in order')
    .argument('<id>')
    .action(show)
  addExamples(showCommand, [[`subscriptions show ${exampleId}`]])
  const listCommand = addPaging(subscriptions.command('list').description('newest first'))
    .option('--gateway <name>', 'only of this gateway')
    .addOption(new Option('--status <status>', 'only these').choices(subscriptionStatuses))
    .addOption(new Option('--managed-by <who>', 'only those that it charges').choices(managers))
    .option('--payable <type:id>', 'only of this object, e.g. account:7', readPayable)
    .action(list)
  addExamples(listCommand, [
    ['subscriptions list --status past_due'],
    ['subscriptions list --payable account:7'],
  ])
}

function addWishes(subscriptions: Command): void {
  const cancelCommand = subscriptions
    .command('cancel')
    .description('end it with what is paid, or now')
    .argument('<id>')
    .option('--now', 'at once; nothing is refunded by itself')
    .action(cancel)
  addExamples(cancelCommand, [[`subscriptions cancel ${exampleId}`]])
  const pauseCommand = subscriptions
    .command('pause')
    .description('charge nothing until it is resumed; what is paid stays usable')
    .argument('<id>')
    .option('--now', 'at once')
    .option('--until <time>', 'go on by itself then', readTime)
    .action(pause)
  addExamples(pauseCommand, [[`subscriptions pause ${exampleId} --until 2027-01-01`]])
  const resumeCommand = subscriptions
    .command('resume')
    .description('take back a planned end or pause, or end a pause')
    .argument('<id>')
    .action(resume)
  addExamples(resumeCommand, [[`subscriptions resume ${exampleId}`]])
  addChange(subscriptions)
  const payCommand = subscriptions
    .command('pay')
    .description('open a checkout for what is owed; the page of the subscription does the same')
    .argument('<id>')
    .option('--return-url <url>', 'where the browser goes afterwards')
    .action(pay)
  addExamples(payCommand, [[`subscriptions pay ${exampleId}`]])
  const syncCommand = subscriptions
    .command('sync')
    .description('ask the provider that manages it how it stands')
    .argument('<id>')
    .action(sync)
  addExamples(syncCommand, [[`subscriptions sync ${exampleId}`]])
}

function addChange(subscriptions: Command): void {
  const changeCommand = subscriptions
    .command('change')
    .description('other terms from the next period on; another card at once')
    .argument('<id>')
    .option('--plan <name>', 'a plan of the settings')
    .option('--amount <units>', 'of a period, in minor units', readAmount)
    .option('--every <length>', 'month, "3 months", year, ...', readIntervalOption)
    .option('--payment-method <id>', 'the saved card to charge')
    .option('--trial-ends-at <time>', 'another end of the trial', readTime)
    .option('--metadata <json>', 'a JSON object; null takes it away', readJson)
    .option('--quotas <json>', 'what it may use, at once: {"api_calls":{"limit":1000}}', readJson)
    .action(change)
  addExamples(changeCommand, [
    [`subscriptions change ${exampleId} --amount 29900`],
    [`subscriptions change ${exampleId} --payment-method ${exampleId}`],
  ])
}

async function show(id: string, _options: unknown, command: Command): Promise<void> {
  const { subscriptionDetailsView } = await import('../../wire/subscription-details.ts')
  const { withCore } = await import('../open-core.ts')
  const { standingsOf } = await import('../../billing/standings-of.ts')
  const { found, standingOf } = await withCore(async (core) => {
    const details = await detailsOf(core, id)
    return { found: details, standingOf: await standingsOf(core, details.payments) }
  })
  if (isJson(command)) {
    printJson(subscriptionDetailsView(found))
    return
  }
  const { printSubscription } = await import('../print-subscription.ts')
  const { printTimeline } = await import('../print-timeline.ts')
  printSubscription(found)
  if (found.endedAt === null) print(`pay at       ${found.payUrl}`)
  print()
  printTimeline(found, standingOf)
}

async function detailsOf(core: BillingCore, id: string): Promise<SubscriptionDetails> {
  const found = await core.subscriptions.get(id)
  if (found !== undefined) return found
  const text = `there is no subscription ${JSON.stringify(id)}`
  throw new QuittanceError('subscription_not_found', text)
}

async function list(_options: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<ListOptions>()
  const { subscriptionView } = await import('../../wire/subscription.ts')
  const { pageView } = await import('../../wire/page.ts')
  const { withCore } = await import('../open-core.ts')
  const { gatewayQuery } = await import('../gateway-query.ts')
  const page = await withCore((core) =>
    core.subscriptions.list({
      ...(options.limit !== undefined && { limit: options.limit }),
      ...(options.cursor !== undefined && { cursor: options.cursor }),
      ...(options.status !== undefined && { status: options.status }),
      ...(options.managedBy !== undefined && { managedBy: options.managedBy }),
      ...(options.payable !== undefined && { payable: options.payable }),
      ...gatewayQuery(core, options.gateway),
    }),
  )
  if (options.json === true) {
    printJson(pageView(page, subscriptionView))
    return
  }
  const { printSubscriptions } = await import('../print-subscription.ts')
  printSubscriptions(page.data)
  if (page.nextCursor !== null) print(`more: --cursor ${page.nextCursor}`)
}

function cancel(id: string, options: { readonly now?: boolean }, command: Command): Promise<void> {
  const at = options.now === true ? 'now' : 'period_end'
  return wish(command, (core) => core.subscriptions.cancel(id, { at }))
}

function pause(
  id: string,
  { now, until }: { readonly now?: boolean; readonly until?: Date },
  command: Command,
): Promise<void> {
  const at = now === true ? 'now' : 'period_end'
  return wish(command, (core) => core.subscriptions.pause(id, { at, until }))
}

/** A declined charge throws nothing: it stays paused, and the command says why. */
async function resume(id: string, _options: unknown, command: Command): Promise<void> {
  const { printNext } = await import('../print-next.ts')
  const carryOut = async (core: BillingCore) => {
    await core.subscriptions.resume(id)
    return detailsOf(core, id)
  }
  await wish(command, carryOut, printNext)
}

type ChangeOptions = Omit<ChangeSubscriptionInput, 'paymentMethodId'> & {
  readonly paymentMethod?: string
}

function change(
  id: string,
  { paymentMethod: paymentMethodId, ...same }: ChangeOptions,
  command: Command,
): Promise<void> {
  return wish(command, (core) => core.subscriptions.change(id, { ...same, paymentMethodId }))
}

async function pay(
  id: string,
  { returnUrl }: { readonly returnUrl?: string },
  command: Command,
): Promise<void> {
  const { paymentView } = await import('../../wire/payment.ts')
  const { printPayment } = await import('../print-payment.ts')
  const { withCore } = await import('../open-core.ts')
  const payment = await withCore((core) => core.subscriptions.pay(id, { returnUrl }))
  if (isJson(command)) printJson(paymentView(payment))
  else printPayment(payment)
}

function sync(id: string, _options: unknown, command: Command): Promise<void> {
  return wish(command, (core) => core.subscriptions.sync(id))
}

async function wish<Wished extends ListedSubscription>(
  command: Command,
  carryOut: (core: BillingCore) => Promise<Wished>,
  printMore: (subscription: Wished) => void = () => {},
): Promise<void> {
  const { subscriptionView } = await import('../../wire/subscription.ts')
  const { printSubscription } = await import('../print-subscription.ts')
  const { withCore } = await import('../open-core.ts')
  const subscription = await withCore(async (core, { warnAbout }) => {
    const changed = await carryOut(core)
    warnAbout(changed.gateway)
    return changed
  })
  if (isJson(command)) {
    printJson(subscriptionView(subscription))
    return
  }
  printSubscription(subscription)
  printMore(subscription)
}

function isJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: boolean }>().json === true
}
