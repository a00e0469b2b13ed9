import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isJsonObject } from '../body/json.ts'
import { parseJson } from '../body/parse-json.ts'
import type { Fields } from '../../../test/gateways/stripe/events.ts'
import { periodOf, statedLines } from './read-lines.ts'

const september = 1_788_220_800
const october = 1_790_812_800
const november = 1_793_491_200
const time = (start: number, end: number) => ({ period: { start, end } })
const period = (start: number, end: number) => ({
  startsAt: new Date(start * 1000),
  endsAt: new Date(end * 1000),
})

/** As it is now, and as it was before 2025-03-31. */
const layouts = {
  now: (proration: boolean) => ({
    parent: {
      invoice_item_details: null,
      subscription_item_details: { proration, subscription: 'sub_1' },
      type: 'subscription_item_details',
    },
  }),
  before: (proration: boolean) => ({ type: 'subscription', proration, subscription: 'sub_1' }),
} as const

const invoice = (data: unknown, has_more: unknown = false) => {
  const parsed = parseJson(JSON.stringify({ lines: { data, has_more } }))
  assert.ok(parsed.ok && isJsonObject(parsed.value))
  return parsed.value
}
const whole: Fields = { amount: 1900, description: 'Membership', quantity: 1 }

for (const [name, layout] of Object.entries(layouts)) {
  test(`an invoice pays for the time of its subscription’s lines, not of prorations (${name})`, () => {
    const line = { ...whole, ...layout(false), ...time(october, november) }
    const proration = { ...whole, ...layout(true), ...time(november, november + 99) }
    const single = { ...whole, type: 'invoiceitem', parent: null, ...time(november, november + 99) }
    assert.deepEqual(periodOf(invoice([line])), period(october, november))
    assert.deepEqual(periodOf(invoice([proration, single, line])), period(october, november))
    assert.equal(periodOf(invoice([proration, single])), undefined)
  })

  test(`usage of the period before is billed with the next one (${name})`, () => {
    const usage = { ...layout(false), ...time(september, october) }
    const fixed = { ...layout(false), ...time(october, november) }
    assert.deepEqual(periodOf(invoice([usage, fixed])), period(october, november))
    assert.deepEqual(periodOf(invoice([fixed, usage])), period(october, november))
    const longer = { ...layout(false), ...time(october, november + 1) }
    assert.equal(periodOf(invoice([fixed, longer])), undefined)
  })
}

test('a time that is none is no period', () => {
  const times = [
    time(november, october),
    time(october, october),
    { period: null },
    { period: { start: october } },
    { period: { start: `${october}`, end: november } },
    { period: { start: -1, end: november } },
    { period: { start: 0, end: november } },
    { period: { start: 1.5, end: november } },
    {},
  ]
  for (const one of times) {
    assert.equal(periodOf(invoice([{ ...layouts.now(false), ...one }])), undefined)
  }
  for (const data of [undefined, null, 'x', [], [null], [[]]]) {
    assert.equal(periodOf(invoice(data)), undefined)
  }
})

test('lines are stated if all of them are known', () => {
  const credit = { amount: -500, description: null, quantity: null }
  const stated = [
    { amount: 1900n, description: 'Membership', quantity: 1 },
    { amount: -500n, description: '', quantity: 1 },
  ]
  assert.deepEqual(statedLines(invoice([whole, credit])), stated)
  assert.deepEqual(statedLines(invoice([{ ...whole, quantity: 3 }]))?.[0]?.quantity, 3)
  for (const quantity of [0, -1, 1.5, '2', 1e300]) {
    assert.equal(statedLines(invoice([{ ...whole, quantity }]))?.[0]?.quantity, 1)
  }
  assert.equal(statedLines(invoice([whole], true)), undefined)
  assert.equal(statedLines(invoice([whole], null)), undefined)
  for (const amount of ['1900', 19.5, null, undefined, 1e20]) {
    assert.equal(statedLines(invoice([whole, { ...whole, amount }])), undefined)
  }
  for (const data of [undefined, null, [], [null], ['x']]) {
    assert.equal(statedLines(invoice(data)), undefined)
  }
  const long = statedLines(invoice([{ ...whole, description: 'x'.repeat(600) }]))
  assert.equal(long?.[0]?.description.length, 500)
})
