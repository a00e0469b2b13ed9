import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasAccess, type AccessFacts } from './access.ts'
import { subscriptionStatuses, type SubscriptionStatus } from './subscription.ts'

const now = new Date('2026-11-20T12:00:00Z')
const before = new Date(now.getTime() - 1)
const after = new Date(now.getTime() + 1)

const facts = (fields: Partial<AccessFacts>): AccessFacts => ({
  status: 'active',
  cancelAt: null,
  suspendedAt: null,
  trialEndsAt: null,
  renewable: true,
  ...fields,
})
const access = (fields: Partial<AccessFacts>) => hasAccess(facts(fields), now)

const plain: Readonly<Record<SubscriptionStatus, boolean>> = {
  incomplete: false,
  trialing: true,
  active: true,
  past_due: true,
  paused: false,
  canceled: false,
}
for (const status of subscriptionStatuses) {
  test(`case 4: ${status} ${plain[status] ? 'has' : 'has no'} access`, () => {
    assert.equal(access({ status }), plain[status])
  })
}

test('case 4: a planned end takes access by the clock, in every state', () => {
  for (const status of subscriptionStatuses) {
    assert.equal(access({ status, cancelAt: before }), false, status)
    assert.equal(access({ status, cancelAt: now }), false, status)
    assert.equal(access({ status, cancelAt: after }), plain[status], status)
  }
})

test('case 4: a declined renewal takes access only where it suspends', () => {
  for (const suspendedAt of [before, now, after]) {
    assert.equal(access({ status: 'past_due', suspendedAt }), false)
  }
  // What a suspension left behind takes nothing from a subscription that is paid again.
  assert.equal(access({ status: 'active', suspendedAt: before }), true)
  assert.equal(access({ status: 'trialing', suspendedAt: before }), true)
})

test('case 4: a trial that cannot go on ends by the clock; another one waits for its charge', () => {
  for (const trialEndsAt of [before, now, after, null]) {
    assert.equal(access({ status: 'trialing', trialEndsAt }), true)
  }
  const alone = { status: 'trialing', renewable: false } as const
  assert.equal(access({ ...alone, trialEndsAt: before }), false)
  assert.equal(access({ ...alone, trialEndsAt: now }), false)
  assert.equal(access({ ...alone, trialEndsAt: after }), true)
  assert.equal(access({ ...alone, trialEndsAt: null }), true)
})

test('case 4: neither a missing card nor a trial that is over takes anything from another state', () => {
  for (const status of subscriptionStatuses.filter((one) => one !== 'trialing')) {
    assert.equal(access({ status, renewable: false, trialEndsAt: before }), plain[status], status)
  }
})
