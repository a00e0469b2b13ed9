import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FeedEvent } from '../wire/outgoing-event.ts'
import { bodyOf } from './body.ts'

/** An event whose body, sent in full, is so long. */
function eventOfBytes(bytes: number): FeedEvent {
  const withText = (text: string) =>
    ({
      id: '0190163d-8694-739b-aea5-966c26f8ad90',
      type: 'PaymentSucceeded',
      dedupKey: 'payment:paid:1',
      superseded: false,
      createdAt: new Date('2026-11-20T12:00:00Z'),
      position: 1,
      source: 'call',
      review: { id: 'r-1', text },
    }) as unknown as FeedEvent
  const empty = Buffer.byteLength(bodyOf(withText(''), 'full'))
  // Half of them take two bytes each.
  const missing = bytes - empty
  return withText('é'.repeat(Math.floor(missing / 2)) + 'a'.repeat(missing % 2))
}

const dataIn = (body: string) => (JSON.parse(body) as { readonly data: object }).data

test('a body goes out whole up to 64 KiB of bytes, and beyond that with its ids alone', () => {
  const whole = bodyOf(eventOfBytes(65_536), 'full')
  assert.equal(Buffer.byteLength(whole), 65_536)
  const thin = bodyOf(eventOfBytes(65_537), 'full')
  assert.deepEqual(dataIn(thin), { review: { id: 'r-1' } })
  assert.deepEqual(dataIn(bodyOf(eventOfBytes(1_000), 'thin')), { review: { id: 'r-1' } })
})
