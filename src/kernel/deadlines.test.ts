import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createDeadlines } from './deadlines.ts'

/** A clock for both: the time, and the timers. */
function clockOf(t: TestContext) {
  let now = 0
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.method(performance, 'now', () => now)
  return (milliseconds: number) => {
    now += milliseconds
    t.mock.timers.tick(milliseconds)
  }
}

test('each item is due after its own time, and only once', (t) => {
  const pass = clockOf(t)
  const due: string[] = []
  const deadlines = createDeadlines<string>(100, (item) => due.push(item))
  deadlines.add('a')
  pass(60)
  deadlines.add('b')
  pass(39)
  assert.deepEqual(due, [])
  pass(1)
  assert.deepEqual(due, ['a'])
  pass(59)
  assert.deepEqual(due, ['a'])
  pass(1)
  assert.deepEqual(due, ['a', 'b'])
  pass(1_000)
  assert.deepEqual(due, ['a', 'b'])
})

test('what is done in time is never due, and leaves no timer behind', (t) => {
  const pass = clockOf(t)
  const due: string[] = []
  const deadlines = createDeadlines<string>(100, (item) => due.push(item))
  const [a, b] = [deadlines.add('a'), deadlines.add('b')]
  deadlines.delete(a)
  pass(50)
  deadlines.delete(b)
  deadlines.add('c')
  pass(99)
  assert.deepEqual(due, [])
  pass(1)
  assert.deepEqual(due, ['c'])
})

test('one that is added while another comes due has its whole time', (t) => {
  const pass = clockOf(t)
  const due: string[] = []
  const deadlines = createDeadlines<string>(100, (item) => {
    due.push(item)
    if (item === 'a') deadlines.add('b')
  })
  deadlines.add('a')
  pass(100)
  assert.deepEqual(due, ['a'])
  pass(100)
  assert.deepEqual(due, ['a', 'b'])
})

test('however often items are added again as they come due, one timer watches', (t) => {
  const pass = clockOf(t)
  let due = 0
  const deadlines = createDeadlines<string>(100, (item) => {
    due += 1
    deadlines.add(item)
  })
  for (const item of ['a', 'b', 'c']) {
    deadlines.add(item)
    pass(10)
  }
  const passSteps = (count: number) => Array.from({ length: count }, () => pass(10))
  passSteps(100)
  const setTimer = t.mock.method(globalThis, 'setTimeout')
  due = 0
  passSteps(100)
  assert.equal(due, 30)
  assert.equal(setTimer.mock.callCount(), due)
})
