import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seconds } from '../kernel/duration.ts'
import { createGatewayPace } from './gateway-pace.ts'

test('a gateway is charged as often as it may be, and others do not wait for it', () => {
  let time = 0
  const perMinute = (gateway: string) => (gateway === 'slow' ? 60 : 6_000)
  const pace = createGatewayPace(perMinute, { burst: 2, now: () => time })
  assert.deepEqual(pace.busy(), [])
  assert.equal(pace.wait(), undefined)
  assert.equal(pace.most(), 2)
  pace.reserve('slow')
  assert.deepEqual(pace.busy(), [])
  assert.equal(pace.most(), 1)
  pace.reserve('slow')
  pace.reserve('quick')
  assert.deepEqual(pace.busy(), ['slow'])
  assert.equal(pace.wait(), seconds(1))
  time = seconds(1)
  assert.deepEqual(pace.busy(), [])
  assert.equal(pace.most(), 1)
  pace.reserve('slow')
  assert.deepEqual(pace.busy(), ['slow'])
  assert.equal(pace.most(), 2)
})

test('what was reserved and not charged is free again', () => {
  const pace = createGatewayPace(() => 60, { burst: 1, now: () => 0 })
  pace.reserve('a')
  assert.deepEqual(pace.busy(), ['a'])
  pace.refund('a')
  assert.deepEqual(pace.busy(), [])
})

test('a gateway that was left alone for long is not charged all the faster', () => {
  let time = 0
  const pace = createGatewayPace(() => 60, { burst: 1, now: () => time })
  pace.reserve('a')
  time = seconds(600)
  pace.reserve('a')
  assert.deepEqual(pace.busy(), ['a'])
})
