import assert from 'node:assert/strict'
import { test } from 'node:test'
import { feedPlaces, inPlace } from './feed-places.ts'

const crowded = { code: 'feed_crowded' }

test('one token takes three quarters of the places at most; others share the last quarter', () => {
  const places = feedPlaces()
  const leave = Array.from({ length: 150 }, () => places.take('shop'))
  assert.throws(() => places.take('shop'), crowded)
  for (let count = 0; count < 25; count += 1) places.take('other')
  assert.throws(() => places.take('other'), crowded)
  places.take('third')
  // A place is given back once.
  for (let count = 0; count < 30; count += 1) leave[0]?.()
  assert.throws(() => places.take('shop'), crowded)
  for (const one of leave) one()
  places.take('shop')
})

test('a reader has its place while it reads', async () => {
  const seen: string[] = []
  const take = () => {
    seen.push('taken')
    return () => void seen.push('left')
  }
  async function* read() {
    yield* [1, 2]
  }
  for await (const page of inPlace(take, read)) {
    seen.push(String(page))
    break
  }
  assert.deepEqual(seen, ['taken', '1', 'left'])
})
