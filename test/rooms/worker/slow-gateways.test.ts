import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createSlowGateways } from '../../../src/worker/call-lanes.ts'

/** Interpretations that end when the test says so, by a clock that it moves. */
function watchingIn(t: TestContext) {
  let now = 0
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.method(performance, 'now', () => now)
  const pass = (milliseconds: number) => {
    now += milliseconds
    t.mock.timers.tick(milliseconds)
  }
  const said: string[] = []
  const slow = createSlowGateways(() => said.push('new'))
  const begin = (gateway: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const watched = slow.watch(gateway, promise, () => said.push(gateway))
    return { watched, resolve, reject }
  }
  return { names: slow.names, begin, pass, said }
}

test('a gateway is slow from the first second of an interpretation on, for half a minute', async (t) => {
  const { names, begin, pass, said } = watchingIn(t)
  const { watched, resolve } = begin('a')
  pass(999)
  assert.deepEqual(names(), [])
  pass(1)
  assert.deepEqual(names(), ['a'])
  assert.deepEqual(said, ['new', 'a'])
  resolve('paid')
  assert.equal(await watched, 'paid')
  pass(29_999)
  assert.deepEqual(names(), ['a'])
  pass(1)
  assert.deepEqual(names(), [])
})

test('it stays slow for half a minute after its last slow interpretation, and is news once', async (t) => {
  const { names, begin, pass, said } = watchingIn(t)
  begin('a')
  pass(1_000)
  begin('b')
  pass(1_000)
  pass(19_000)
  begin('a')
  pass(1_000)
  assert.deepEqual(said, ['new', 'a', 'new', 'b', 'a'])
  pass(20_000)
  assert.deepEqual(names(), ['a'])
  pass(10_000)
  assert.deepEqual(names(), [])
  begin('a')
  pass(1_000)
  assert.deepEqual(said.slice(5), ['new', 'a'])
})

test('a gateway is not slow where an interpretation ends, or fails, in time', async (t) => {
  const { names, begin, pass, said } = watchingIn(t)
  const ended = begin('a')
  const failed = begin('b')
  ended.resolve('paid')
  failed.reject(new Error('gone'))
  assert.equal(await ended.watched, 'paid')
  await assert.rejects(failed.watched, /gone/)
  begin('c')
  pass(1_000)
  assert.deepEqual(names(), ['c'])
  assert.deepEqual(said, ['new', 'c'])
})
