import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Hono } from 'hono'
import type { FeedQuery, FeedResult } from '../../src/billing/event-types.ts'
import { streamEvents } from '../../src/http/api/events.ts'
import { minutes, seconds } from '../../src/kernel/duration.ts'
import { silentLog } from '../../src/kernel/log.ts'

const page = (nextCursor: string): FeedResult => ({ data: [], nextCursor, hasMore: false })

test('a silent stream says each 15 s that it is there, and ends after 15 min for its reader to come again', async (t) => {
  const over = new AbortController()
  const limits: number[] = []
  t.mock.method(AbortSignal, 'timeout', (length: number) => {
    limits.push(length)
    return over.signal
  })
  const allRead = Promise.withResolvers<void>()
  let asked: Pick<FeedQuery, 'wait' | 'signal'> | undefined
  async function* read(how: Pick<FeedQuery, 'wait' | 'signal'>) {
    asked = how
    // The first at once; then nothing comes, then only what is not wanted.
    yield page('a')
    yield page('a')
    yield page('b')
    allRead.resolve()
    await new Promise((resolve) => how.signal?.addEventListener('abort', resolve, { once: true }))
  }
  const app = new Hono().get('/', (c) =>
    streamEvents(c, { read, closing: undefined, log: silentLog }),
  )
  const reading = (await app.request('/')).text()
  await allRead.promise
  over.abort()
  assert.equal(await reading, 'retry: 1000\n\nid: a\n\n:\n\nid: b\n\n')
  assert.deepEqual([asked?.wait, limits], [seconds(15), [minutes(15)]])
})
