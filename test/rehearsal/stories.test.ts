import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { BillingCore } from '../../src/billing/types.ts'
import { coreOf } from '../../src/billing/create-core.ts'
import { endOf } from '../../src/rehearsal/rehearsal.ts'
import {
  beginRehearsal,
  prepareRehearsal,
  type RehearsalPlay,
} from '../../src/rehearsal/rehearsal.ts'
import { rehearseStory } from '../../src/rehearsal/rehearse-story.ts'
import { stories, type Story, type StoryName } from '../../src/rehearsal/stories.ts'
import { playTogether, type Act } from './one-clock.ts'

/** How each story ends, without a trial, and after how many months. */
const ends: Readonly<Record<StoryName, readonly [end: string, months: number]>> = {
  paid: ['active', 2],
  'declined-then-paid': ['active', 2],
  declined: ['canceled payment_failed', 2],
  stolen: ['active', 2],
  confirmed: ['active', 2],
  'no-card': ['canceled incomplete', 1],
  canceled: ['canceled requested', 3],
  paused: ['active', 4],
  unanswered: ['active', 2],
  'expired-key': ['active', 2],
  downtime: ['active', 2],
}

/** As `rehearseStory` plays it, on a stage where others are played, too. */
async function playStory(
  { core, play }: { readonly core: BillingCore; readonly play: RehearsalPlay },
  name: StoryName,
  amount = 1000,
) {
  const { card: script, act }: Story = stories[name]
  const { behaves = 'paid', ...charges } = script ?? {}
  const card = script === null ? null : await play.saveCard()
  card?.behaves(behaves, charges)
  const until = endOf(`${ends[name][1]} months`, play.now())
  const { subscription } = await core.subscriptions.create({
    gateway: 'fake',
    payable: { type: 'account', id: name },
    amount,
    currency: 'USD',
    every: 'month',
    ...(card !== null && { paymentMethodId: card.id }),
  })
  const { id } = subscription
  await play.catchUp()
  await act?.({ play, core, id })
  await play.advance(until)
  const played = await core.subscriptions.get(id)
  assert.ok(played)
  const timeline = await play.timeline(id)
  // Else it is charged for as long as others are played.
  if (played.status !== 'canceled') await core.subscriptions.cancel(id, { at: 'now' })
  return { played, timeline }
}

type Ended = Awaited<ReturnType<typeof playStory>>

describe('the stories', () => {
  const ended = new Map<string, Promise<Ended>>()
  before(async () => {
    const prepared = prepareRehearsal({}, new Date('2027-01-01T00:00:00Z'))
    const core = coreOf(prepared.runtime)
    await using play = await beginRehearsal(prepared, core)
    const acts: Record<string, Act<Ended>> = {
      free: (own) => playStory({ core, play: own }, 'stolen', 0),
    }
    for (const name of Object.keys(stories) as StoryName[]) {
      acts[name] = (own) => playStory({ core, play: own }, name)
    }
    // No other story goes on while the service is down.
    const { downtime, ...others } = acts
    for (const [name, one] of await playTogether(play, others)) ended.set(name, one)
    assert.ok(downtime)
    const last = downtime(play)
    ended.set('downtime', last)
    await Promise.allSettled(ended.values())
  })
  const endOfStory = async (name: string) => {
    const one = await ended.get(name)
    assert.ok(one)
    return one
  }

  for (const [name, [end]] of Object.entries(ends)) {
    test(`the story ${name} ends ${end}`, async () => {
      const { played, timeline } = await endOfStory(name)
      const { status, endReason } = played
      assert.equal(endReason === null ? status : `${status} ${endReason}`, end, timeline.text)
      const { entries } = timeline
      const renewals = entries.filter(({ text }) => text === 'SubscriptionRenewed').length
      const paid = entries.filter(
        ({ kind, text }) => ['charge', 'page'].includes(kind) && /: paid/.test(text),
      ).length
      assert.equal(renewals, paid, timeline.text)
    })
  }

  test('the end of what is paid is announced, with a mail', async () => {
    const { timeline } = await endOfStory('paid')
    const notices = timeline.entries.filter(({ text }) => text === 'SubscriptionPeriodEnding')
    assert.deepEqual(
      notices.map(({ at, mail }) => [at.toISOString().slice(0, 10), mail]),
      [
        ['2027-01-29', 'it renews on 2027-02-01'],
        ['2027-02-26', 'it renews on 2027-03-01'],
      ],
    )
  })

  test('a payer who comes when nothing is owed pays nothing, and the story goes on', async () => {
    const { played, timeline } = await endOfStory('free')
    assert.equal(played.status, 'active')
    const { entries } = timeline
    assert.equal(entries.filter(({ text }) => text === 'SubscriptionRenewed').length, 3)
    assert.deepEqual(
      entries.filter(({ kind }) => kind === 'charge' || kind === 'page'),
      [],
    )
    // Without a retry it has ended by the time its payer comes.
    const { subscription } = await rehearseStory({
      options: { subscriptions: { retryDays: [] } },
      startsAt: new Date('2027-01-01T00:00:00Z'),
      months: 2,
      story: { name: 'stolen' },
      terms: { amount: 1000, currency: 'USD', every: 'month' },
    })
    assert.equal(subscription.status, 'canceled')
  })
})
