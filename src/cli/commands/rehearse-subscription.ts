import { InvalidArgumentError, Option, type Command } from 'commander'
import { QuittanceError } from '../../kernel/errors.ts'
import type { Interval } from '../../subscriptions/subscription.ts'
import { addExamples } from '../examples.ts'
import { print, printJson, visible } from '../output.ts'
import { readAmount } from '../read-amount.ts'
import { readCount } from '../read-count.ts'
import { readIntervalOption } from '../read-interval.ts'
import { readTime } from '../read-time.ts'

interface RehearseOptions {
  readonly plan?: string
  readonly amount?: number
  readonly currency?: string
  readonly every?: Interval
  readonly trialDays?: number
  readonly timeZone?: string
  readonly graceAccess?: boolean
  readonly startsAt: Date
  readonly months: number
  readonly story: string
  readonly cardFails?: 'soft' | 'hard' | 'authentication'
  readonly cardFailsAfter?: number
  readonly stories?: boolean
  readonly json?: boolean
}

export function addRehearseSubscription(subscriptions: Command): void {
  const rehearseCommand = subscriptions
    .command('rehearse')
    .description('play months of a subscription with your settings: nothing real is touched')
    .option('--plan <name>', 'a plan of the settings (default: the first one)')
    .option('--amount <units>', 'of a period, in minor units', readAmount)
    .option('--currency <code>', 'ISO 4217 code, e.g. UAH')
    .option('--every <length>', 'month, "3 months", year, ...', readIntervalOption)
    .option('--trial-days <days>', 'days without pay before the first period', readCount)
    .option('--time-zone <name>', 'in whose days and months periods are counted')
    .option('--no-grace-access', 'no access while a declined renewal is tried again')
    .option('--starts-at <time>', 'when it begins', readTime, new Date('2027-01-01T00:00:00Z'))
    .option('--months <count>', 'how long it is played', readMonths, 6)
    .option('--story <name>', 'what happens: see --stories', 'paid')
    .addOption(
      new Option('--card-fails <how>', 'a story of your own: how charges end')
        .choices(['soft', 'hard', 'authentication'])
        .conflicts('story'),
    )
    .option('--card-fails-after <count>', 'so many are paid before (default: 1)', readCount)
    .option('--stories', 'only list the stories')
    .action(rehearse)
  addExamples(rehearseCommand, [
    ['subscriptions rehearse --story declined'],
    ['subscriptions rehearse --amount 19900 --currency UAH --every month --trial-days 14'],
    ['subscriptions rehearse --card-fails hard --card-fails-after 3'],
  ])
}

const mostMonths = 60

function readMonths(text: string): number {
  const months = readCount(text)
  if (months >= 1 && months <= mostMonths) return months
  throw new InvalidArgumentError(`It must be 1 to ${mostMonths}.`)
}

async function rehearse(_options: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<RehearseOptions>()
  const { stories } = await import('../../rehearsal/stories.ts')
  if (options.stories === true) {
    const list = Object.entries(stories).map(([name, { description }]) => ({ name, description }))
    if (options.json === true) printJson({ stories: list })
    else for (const { name, description } of list) print(`${name.padEnd(18)}  ${description}`)
    return
  }
  const { rehearseStory } = await import('../../rehearsal/rehearse-story.ts')
  const { readConfiguration } = await import('../env.ts')
  const { options: configured } = await readConfiguration()
  const { subscriptions, plans } = configured
  const played = await rehearseStory({
    // Nothing else of the configuration matters, and nothing that it names is opened.
    options: { url: configured.url, subscriptions, plans },
    startsAt: options.startsAt,
    months: options.months,
    story: storyOf(options),
    terms: termsOf(options, Object.keys(plans)),
  })
  const { settings, subscription, timeline } = played
  if (options.json === true) {
    const { subscriptionView } = await import('../../wire/subscription.ts')
    const shown = { settings, subscription: subscriptionView(subscription) }
    printJson({ ...shown, timeline: timeline.entries })
    return
  }
  const { termsText } = await import('../../wire/subscription.ts')
  const { timeZone } = subscription
  // The times are shown in UTC. The periods are counted in days of this zone.
  const zone = timeZone === 'UTC' ? '' : `, counted in ${timeZone}`
  print(visible(`${termsText(subscription)}${zone}; times in UTC`))
  for (const [name, value] of Object.entries(settings)) print(`${name}: ${valueText(value)}`)
  print()
  print(visible(timeline.text))
}

function storyOf({ story, cardFails, cardFailsAfter }: RehearseOptions) {
  if (cardFails !== undefined) return { cardFails, after: cardFailsAfter ?? 1 }
  if (cardFailsAfter === undefined) return { name: story }
  throw new QuittanceError('usage', '--card-fails-after goes with --card-fails <how>')
}

/** Without any, those of the first plan of the settings, or of an example. */
function termsOf(options: RehearseOptions, plans: readonly string[]) {
  const { plan, amount, currency, every, trialDays, timeZone, graceAccess } = options
  const [first] = plans
  const isSaid = [plan, amount, currency, every].some((value) => value !== undefined)
  const usual = first === undefined ? example : { plan: first }
  return {
    ...(isSaid ? { plan, amount, currency, every } : usual),
    trialDays,
    timeZone,
    ...(graceAccess === false && { graceAccess }),
  }
}

const example = { amount: 1000, currency: 'USD', every: 'month' } as const

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ')
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value)
}
