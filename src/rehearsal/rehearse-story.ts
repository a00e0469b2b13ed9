import { coreOf } from '../billing/create-core.ts'
import type { BillingOptions } from '../billing/options.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { CreateSubscriptionInput } from '../money/subscription-input.ts'
import { boundary } from '../subscriptions/boundary.ts'
import type { ListedSubscription } from '../wire/subscription.ts'
import type { Timeline } from './read-timeline.ts'
import { beginRehearsal, prepareRehearsal } from './rehearsal.ts'
import { stories, type Story } from './stories.ts'

/** What is played: one of the stories, or a card that fails after so many charges. */
export type StoryChoice =
  | { readonly name: string }
  | { readonly cardFails: 'soft' | 'hard' | 'authentication'; readonly after: number }

export interface StoryRehearsal {
  readonly options: Pick<BillingOptions, 'url' | 'subscriptions' | 'plans'>
  readonly startsAt: Date
  readonly months: number
  readonly story: StoryChoice
  readonly terms: Omit<CreateSubscriptionInput, 'gateway' | 'payable'>
}

export interface PlayedStory {
  /** Those of the settings that decide what happens, by their names in the file. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly subscription: ListedSubscription
  readonly timeline: Timeline
}

/**
 * Plays a story with the merchant's settings. Errors: `usage` (no such story), those of
 * `billing.subscriptions.create`.
 */
export async function rehearseStory(asked: StoryRehearsal): Promise<PlayedStory> {
  const story = storyOf(asked.story)
  const { startsAt, months, terms, options } = asked
  const prepared = prepareRehearsal(options, startsAt)
  const core = coreOf(prepared.runtime)
  await using play = await beginRehearsal(prepared, core)
  const { behaves = 'paid', ...charges } = story.card ?? {}
  const card = story.card === null ? null : await play.saveCard()
  card?.behaves(behaves, charges)
  const { subscription } = await core.subscriptions.create({
    ...terms,
    gateway: 'fake',
    payable: { type: 'account', id: '1' },
    ...(card !== null && { paymentMethodId: card.id }),
  })
  const { id } = subscription
  await play.catchUp()
  const until = boundary(
    { anchorAt: startsAt, every: { unit: 'month', count: months }, timeZone: 'UTC' },
    1,
  )
  await story.act?.({ play, core, id })
  await play.advance(until)
  const played = await core.subscriptions.get(id)
  if (played === undefined) throw new Error('the subscription of the rehearsal is gone')
  return {
    settings: settingsOf({
      ...prepared.runtime.settings.subscriptions,
      graceAccess: played.graceAccess,
    }),
    subscription: played,
    timeline: await play.timeline(id),
  }
}

function storyOf(choice: StoryChoice): Story {
  if ('cardFails' in choice) {
    const { cardFails, after } = choice
    return { description: '', card: { behaves: cardFails, after } }
  }
  const known: Readonly<Record<string, Story>> = stories
  const story = Object.hasOwn(known, choice.name) ? known[choice.name] : undefined
  if (story !== undefined) return story
  throw new QuittanceError('usage', `there is no story ${JSON.stringify(choice.name)}`, {
    fix: `Take one of ${Object.keys(stories).join(', ')}.`,
  })
}

function settingsOf(given: {
  readonly graceAccess: boolean
  readonly retryDays: readonly number[]
  readonly onUnpaid: string
  readonly trialNoticeDays: readonly number[]
  readonly periodNoticeDays: readonly number[]
}): PlayedStory['settings'] {
  return {
    grace_access: given.graceAccess,
    retry_days: given.retryDays,
    on_unpaid: given.onUnpaid,
    trial_notice_days: given.trialNoticeDays,
    period_notice_days: given.periodNoticeDays,
  }
}
