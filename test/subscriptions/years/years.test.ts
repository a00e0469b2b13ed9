import assert from 'node:assert/strict'
import { test } from 'node:test'
import { playYears } from './play.ts'

// A seed that fails is in the message: `playYears(seed)` plays it again.
test('case 7: 2,000 subscriptions live for years, whatever goes wrong, and all holds of each', () => {
  const happened = new Map<string, number>()
  for (let seed = 0; seed < 2000; seed += 1) {
    for (const [what, times] of playYears(seed).tally) {
      const kind = what.replaceAll(/period \d+/g, 'period').replace(/until.*|off by.*/, '')
      happened.set(kind, (happened.get(kind) ?? 0) + times)
    }
  }
  const all = [...happened.keys()].join('\n')
  for (const what of mustHappen) assert.match(all, what)
})

/** What the lives have to meet, or they would prove little. */
const mustHappen = [
  /before the commit/,
  /commit unknown/,
  /after the commit, before sending/,
  /sent, not answered/,
  /answered, not applied/,
  /a debit after all/,
  /the dump is restored/,
  /the clock is/,
  /down/,
  /hold/,
  /the card is removed/,
  /review period_paid_twice/,
  /review period_void/,
  /refused renewal_under_way/,
  /active -> past_due.*SubscriptionAccessSuspended/,
  /past_due -> active/,
  /past_due -> canceled/,
  /past_due -> paused/,
  /paused -> active.*SubscriptionResumed, SubscriptionRenewed/,
  /paused -> active, SubscriptionResumed/,
  /paused -> canceled/,
  /trialing -> active.*TrialEnded, SubscriptionRenewed/,
  /trialing -> canceled.*TrialEnded/,
  /trialing -> past_due/,
  /incomplete -> canceled/,
]

test('case 7: the same seed has the same life and the same ids', () => {
  for (const seed of [3, 141, 1592]) {
    const [one, other] = [playYears(seed), playYears(seed)]
    assert.deepEqual(one.diary, other.diary)
    assert.deepEqual(one.store.rows(), other.store.rows())
  }
})
