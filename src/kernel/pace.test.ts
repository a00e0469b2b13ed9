import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seconds } from './duration.ts'
import { createPace } from './pace.ts'

test('a rate is kept from the first second on, after a silence too', () => {
  let now = 0
  const pace = createPace({ apart: 50, madeUpFor: 100, now: () => now })
  const beginAll = () => {
    let begun = 0
    for (; pace.room() > 0; begun += 1) pace.begin()
    return begun
  }
  // A tenth of a second is made up for.
  for (const silence of [0, seconds(60)]) {
    now += silence
    assert.deepEqual([beginAll(), pace.wait()], [3, 50])
  }
  now += 50
  assert.equal(beginAll(), 1)
  const free = createPace({ apart: 0, madeUpFor: 100 })
  for (let count = 0; count < 1000; count += 1) free.begin()
  assert.deepEqual([free.room(), free.wait()], [Infinity, undefined])
})
