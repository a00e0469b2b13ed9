import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rehearseStory } from '../../src/rehearsal/rehearse-story.ts'
import type { stories } from '../../src/rehearsal/stories.ts'

/** How each story ends, without a trial. */
const ends: Readonly<Record<keyof typeof stories, string>> = {
  paid: 'active',
  'declined-then-paid': 'active',
  declined: 'canceled payment_failed',
  stolen: 'active',
  confirmed: 'active',
  'no-card': 'canceled incomplete',
  canceled: 'canceled requested',
  paused: 'active',
  unanswered: 'active',
  'expired-key': 'active',
  downtime: 'active',
}

for (const [name, end] of Object.entries(ends)) {
  test(`the story ${name} ends ${end}`, async () => {
    const { subscription, timeline } = await rehearseStory({
      options: {},
      startsAt: new Date('2027-01-01T00:00:00Z'),
      months: 4,
      story: { name },
      terms: { amount: 1000, currency: 'USD', every: 'month' },
    })
    const { status, endReason } = subscription
    assert.equal(endReason === null ? status : `${status} ${endReason}`, end, timeline.text)
    const { entries } = timeline
    const renewals = entries.filter(({ text }) => text === 'SubscriptionRenewed').length
    const paid = entries.filter(
      ({ kind, text }) => ['charge', 'page'].includes(kind) && /: paid/.test(text),
    ).length
    assert.equal(renewals, paid, timeline.text)
  })
}

test('a payer who comes when nothing is owed pays nothing, and the story goes on', async () => {
  const played = async (name: keyof typeof stories, amount: number) => {
    const { subscription } = await rehearseStory({
      options: { subscriptions: { retryDays: [] } },
      startsAt: new Date('2027-01-01T00:00:00Z'),
      months: 4,
      story: { name },
      terms: { amount, currency: 'USD', every: 'month' },
    })
    return subscription.status
  }
  assert.equal(await played('stolen', 1000), 'canceled')
  assert.equal(await played('confirmed', 1000), 'canceled')
  assert.equal(await played('stolen', 0), 'active')
})
