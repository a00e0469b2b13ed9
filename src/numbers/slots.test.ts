import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buckets } from './catalogue.ts'
import { createNumbers, type Numbers } from './slots.ts'

function shown(numbers: Numbers, metric: string): Record<string, number> {
  const ours = [...numbers.slots()].filter((slot) => slot.metric === metric && slot.value > 0)
  return Object.fromEntries(ours.map(({ labels, value }) => [labels.join(' '), value]))
}

test('the same labels are the same slot, however it is reached', () => {
  const numbers = createNumbers()
  const slot = numbers.slot('callbacks_total', { gateway: 'stripe', answer: 'accepted' })
  slot.value += 1
  numbers.add('callbacks_total', { answer: 'accepted', gateway: 'stripe' })
  numbers.add('callbacks_total', { gateway: 'stripe', answer: 'refused' }, 5)
  assert.equal(numbers.slot('callbacks_total', { gateway: 'stripe', answer: 'accepted' }), slot)
  assert.deepEqual(shown(numbers, 'callbacks_total'), { 'stripe accepted': 2, 'stripe refused': 5 })
})

test('an open label has 32 values of each gateway, and then counts as other', () => {
  const numbers = createNumbers()
  for (let index = 0; index < 50; index += 1) {
    numbers.add('callbacks_refused_total', { gateway: 'stripe', reason: `reason_${index}` })
  }
  numbers.add('callbacks_refused_total', { gateway: 'stripe', reason: 'reason_3' })
  numbers.add('callbacks_refused_total', { gateway: 'paddle', reason: 'reason_40' })
  const counted = shown(numbers, 'callbacks_refused_total')
  assert.equal(Object.keys(counted).length, 34)
  assert.equal(counted['stripe other'], 18)
  assert.equal(counted['stripe reason_3'], 2)
  assert.equal(counted['paddle reason_40'], 1)
})

test('what is behind an open label stays apart when it becomes other', () => {
  const numbers = createNumbers()
  for (let index = 0; index < 40; index += 1) {
    const state = index % 2 === 0 ? 'delivered' : 'failed'
    numbers.add('deliveries_finished_total', { listener: `listener_${index}`, state })
  }
  const counted = shown(numbers, 'deliveries_finished_total')
  assert.equal(counted['other delivered'], 4)
  assert.equal(counted['other failed'], 4)
})

test('a length of time counts in the smallest bucket that holds it, and in the sum', () => {
  const numbers = createNumbers()
  const histogram = numbers.histogram('callback_seconds', { gateway: 'fake' })
  for (const seconds of [0, 0.001, 0.0011, 0.3, 1800, 1801]) histogram.observe(seconds)
  assert.deepEqual(shown(numbers, 'callback_seconds'), {
    'fake 0.001': 2,
    'fake 0.002': 1,
    'fake 0.5': 1,
    'fake 1800': 1,
    'fake +Inf': 1,
    'fake sum': 3601.3021,
  })
  assert.equal(numbers.histogram('callback_seconds', { gateway: 'fake' }), histogram)
  assert.deepEqual(
    [...buckets],
    [...buckets].toSorted((a, b) => a - b),
  )
})

test('a label is cut, and what a database cannot hold is replaced', () => {
  const numbers = createNumbers()
  numbers.add('callbacks_refused_total', { gateway: 'own', reason: `a\0b${'x'.repeat(500)}` })
  numbers.add('callbacks_refused_total', { gateway: 'own', reason: 'half \ud800' })
  assert.deepEqual(Object.keys(shown(numbers, 'callbacks_refused_total')), [
    `own a\u{fffd}b${'x'.repeat(97)}`,
    'own half \u{fffd}',
  ])
})
