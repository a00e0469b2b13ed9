import assert from 'node:assert/strict'
import test from 'node:test'
import { capabilitiesOf } from './capabilities.ts'
import { fake } from './fake/index.ts'
import type { Gateway } from './gateway.ts'
import { paddle } from './paddle/index.ts'
import { stripe } from './stripe/index.ts'

const namesOf = (gateway: Gateway) =>
  Object.entries(capabilitiesOf(gateway))
    .filter(([, can]) => can)
    .map(([name]) => name)

const without = (gateway: Gateway, ...members: readonly (keyof Gateway)[]): Gateway => {
  const copy = { ...gateway }
  for (const member of members) Reflect.deleteProperty(copy, member)
  return copy
}

test('a gateway can do what it has an operation for', () => {
  const asked = ['checkout', 'refund', 'partialRefund', 'poll']
  assert.deepEqual(namesOf(fake), [...asked, 'savedCards'])
  const all = [...asked, 'registerWebhook', 'savedCards', 'subscriptions']
  assert.deepEqual(namesOf(stripe), all)
  const asking = ['checkout', 'refund', 'poll', 'registration'] as const
  assert.deepEqual(namesOf(without(stripe, ...asking, 'chargeSavedCard', 'subscriptions')), [])
})

test('a part of a payment is refunded only where the gateway says that it can', () => {
  assert.deepEqual(namesOf(without(fake, 'partialRefund')), [
    'checkout',
    'refund',
    'poll',
    'savedCards',
  ])
})

test('a gateway whose callbacks show saved cards, which it cannot charge, does not offer them', () => {
  assert.equal(capabilitiesOf(paddle).savedCards, false)
})
