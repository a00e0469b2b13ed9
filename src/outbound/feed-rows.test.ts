import assert from 'node:assert/strict'
import test from 'node:test'
import type { Database } from '../database/connect.ts'
import type { FeedRow } from '../database/read-feed-rows.ts'
import { createFeedRows } from './feed-rows.ts'

/** Nothing but the rows is asked of it within a second. */
const noDatabase = {} as Database

/** A feed whose reads see it as it is when they begin, and end when they are told to. */
function gatedFeed() {
  const held: PromiseWithResolvers<void>[] = []
  const feed = {
    last: 0,
    isGated: false,
    async endReads() {
      // Whoever asked has begun to read by then.
      await new Promise(setImmediate)
      for (const one of held.splice(0)) one.resolve()
    },
    async read(_db: unknown, position: bigint, limit: number): Promise<readonly FeedRow[]> {
      const from = Number(position)
      const until = Math.min(feed.last, from + limit)
      if (feed.isGated) {
        const gate = Promise.withResolvers<void>()
        held.push(gate)
        await gate.promise
      }
      return Array.from({ length: Math.max(0, until - from) }, (_, index) => {
        const place = BigInt(from + index + 1)
        return { id: `event ${place}`, position: place } as FeedRow
      })
    },
  }
  return feed
}

const places = (rows: readonly FeedRow[]) => rows.map(({ position }) => Number(position))

test('whoever was woken by a commit sees it, also if another look had begun before', async () => {
  const feed = gatedFeed()
  feed.last = 100
  const rows = createFeedRows(noDatabase, feed.read)
  await rows.beyond(90n)
  feed.isGated = true
  const before = rows.beyond(100n)
  await new Promise(setImmediate)
  feed.last = 101
  const woken = rows.beyond(100n)
  await feed.endReads()
  feed.isGated = false
  await feed.endReads()
  assert.deepEqual(places(await before), [])
  assert.deepEqual(places(await woken), [101])
})

test('a look is shared by those alone who ask behind the same position', async () => {
  const feed = gatedFeed()
  feed.last = 100
  const rows = createFeedRows(noDatabase, feed.read)
  await rows.beyond(90n)
  feed.last = 120
  feed.isGated = true
  const slow = rows.beyond(100n)
  await new Promise(setImmediate)
  feed.isGated = false
  feed.last = 130
  // Somebody further back has seen more meanwhile.
  assert.equal((await rows.beyond(50n)).length, 80)
  const newest = await rows.beyond(130n)
  await feed.endReads()
  assert.deepEqual(places(newest), [])
  assert.equal((await slow).length, 20)
  assert.deepEqual(places(await rows.beyond(128n)), [129, 130])
})
