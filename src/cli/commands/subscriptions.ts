import type { Command } from 'commander'
import type { BillingCore } from '../../billing/types.ts'
import type { ChangeSubscriptionInput } from '../../money/subscription-input.ts'
import { subscriptionFilters } from '../../subscriptions/subscription.ts'
import type { SubscriptionDetails } from '../../wire/subscription-details.ts'
import type { ListedSubscription } from '../../wire/subscription.ts'
import { addExamples } from '../examples.ts'
import { addList, asksJson, found, printPage, queryOf } from '../noun.ts'
import { print, printJson } from '../output.ts'
import { readAmount } from '../read-amount.ts'
import { readIntervalOption } from '../read-interval.ts'
import { readJson } from '../read-json.ts'
import { readTime } from '../read-time.ts'
import { addCreateSubscription } from './create-subscription.ts'
import { addRehearseSubscription } from './rehearse-subscription.ts'
import { addRunSubscriptions } from './run-subscriptions.ts'

const exampleId = '0190163d-8694-739b-aea5-966c26f8ad90'

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
  const listCommand = addList(subscriptions, subscriptionFilters).action(list)
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
  const { details, standingOf } = await withCore(async (core) => {
    const one = await detailsOf(core, id)
    return { details: one, standingOf: await standingsOf(core, one.payments) }
  })
  if (asksJson(command)) {
    printJson(subscriptionDetailsView(details))
    return
  }
  const { printSubscription } = await import('../print-subscription.ts')
  const { printTimeline } = await import('../print-timeline.ts')
  printSubscription(details)
  if (details.endedAt === null) print(`pay at       ${details.payUrl}`)
  print()
  printTimeline(details, standingOf)
}

async function detailsOf(core: BillingCore, id: string): Promise<SubscriptionDetails> {
  return found(await core.subscriptions.get(id), 'subscription', id)
}

async function list(_options: unknown, command: Command): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  const page = await withCore(async (core) =>
    core.subscriptions.list(await queryOf(core, command, subscriptionFilters)),
  )
  const { subscriptionNoun } = await import('../../wire/subscription.ts')
  await printPage(page, command, subscriptionNoun)
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
  if (asksJson(command)) printJson(paymentView(payment))
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
  if (asksJson(command)) {
    printJson(subscriptionView(subscription))
    return
  }
  printSubscription(subscription)
  printMore(subscription)
}
