import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boundary } from '../subscriptions/boundary.ts'
import { readSubscriptionInput, type SubscriptionWish } from './subscription-input.ts'

const bought = { gateway: 'fake', payable: { type: 'account', id: '7' }, plan: 'pro' }
const timed: readonly (readonly [SubscriptionWish, string, object])[] = [
  ['create', 'trialEndsAt', bought],
  ['create', 'paidUntil', bought],
  ['change', 'trialEndsAt', {}],
  ['pause', 'until', {}],
]

test('a time is one from which periods can be counted', () => {
  const last = new Date('8999-12-31T23:59:59.999Z')
  for (const [wish, field, rest] of timed) {
    const read = (at: unknown) => readSubscriptionInput(wish, { ...rest, [field]: at })
    assert.ok(read(last))
    for (const at of ['9999-12-31T00:00:00Z', new Date(8.64e15), new Date(-1), new Date(NaN)]) {
      const message = new RegExp(`^${field} must be a time in ISO 8601`)
      assert.throws(() => read(at), { code: 'subscription_invalid', message })
    }
  }
  for (const timeZone of ['UTC', 'Pacific/Kiritimati']) {
    const every = { unit: 'year', count: 366 } as const
    assert.match(boundary({ anchorAt: last, every, timeZone }, 1).toISOString(), /^936\d-/)
  }
})
