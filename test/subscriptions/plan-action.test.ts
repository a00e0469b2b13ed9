import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { SubscriptionState } from '../../src/subscriptions/change.ts'
import { planAction } from '../../src/subscriptions/plan-action.ts'
import { periodNeeds } from '../../src/subscriptions/period.ts'
import {
  active,
  after,
  at,
  incomplete,
  march,
  owing,
  pastDue,
  paused,
  renewing,
  trialing,
} from './states.ts'

const hour = fc.integer({ min: -24 * 40, max: 24 * 400 })
const time = hour.map((hours) => new Date(march(10).getTime() + hours * 3_600_000))
const maybe = fc.option(time)

/** States that can be, with times that are anywhere: clocks jump, and workers sleep. */
const states = fc
  .record({
    make: fc.constantFrom(active, owing, renewing, pastDue, paused, trialing, incomplete),
    subscription: fc.record({
      cancelAt: maybe,
      pauseAt: maybe,
      resumeAt: maybe,
      graceAccess: fc.boolean(),
      amount: fc.constantFrom(0n, 500n, 500n, 500n),
    }),
    open: fc.record({
      nextAttemptAt: maybe,
      needs: fc.constantFrom(...periodNeeds),
      paymentsMade: fc.nat(5),
    }),
    live: fc.record({ isPage: fc.boolean(), needsPayer: fc.boolean() }),
    isCardUsable: fc.boolean(),
  })
  .map(({ make, ...parts }): SubscriptionState => make(parts))
const moments = fc
  .record({ now: time, held: fc.boolean(), onUnpaid: fc.constantFrom('cancel', 'pause') })
  .map(({ now, held, onUnpaid }) => at(now, { held, onUnpaid: onUnpaid as 'cancel' }))

test('case 3: no step asks for money while a payment is live, or on hold', () => {
  fc.assert(
    fc.property(states, moments, (state, moment) => {
      const { payment } = planAction(state, moment)
      if (state.live !== null || moment.held) assert.equal(payment, null)
    }),
    { numRuns: 3000 },
  )
})

test('case 3: after a step there is a next time, or it has ended, or is paused for a person', () => {
  fc.assert(
    fc.property(states, moments, (state, moment) => {
      const { nextActionAt, status } = planAction(state, moment).subscription
      const rests = status === 'canceled' || status === 'paused'
      assert.ok(nextActionAt !== null || rests)
      if (status === 'canceled') assert.equal(nextActionAt, null)
    }),
    { numRuns: 3000 },
  )
})

test('case 3: steps come to rest: each time one is due it does something, and soon none is', () => {
  fc.assert(
    fc.property(states, moments, (state, moment) => {
      let standing = state
      for (let steps = 0; steps < 8; steps += 1) {
        const change = planAction(standing, moment)
        const { nextActionAt } = change.subscription
        if (nextActionAt === null || nextActionAt > moment.now) return
        standing = after(standing, change)
      }
      assert.fail('it never comes to rest')
    }),
    { numRuns: 3000 },
  )
})

test('a step that finds nothing to do changes nothing but the next time', () => {
  const state = active({ subscription: { nextActionAt: null } })
  const change = planAction(state, at(march(5)))
  assert.deepEqual(change.subscription, { ...state.subscription, nextActionAt: march(10) })
  const { periods, events, reviews, payment, transition, closeCheckout } = change
  assert.deepEqual([periods, events, reviews], [[], [], []])
  assert.deepEqual([payment, transition, closeCheckout], [null, null, null])
})
