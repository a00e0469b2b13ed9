import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readListener } from './read-listener.ts'

const run = () => {}
const succeeded = 'PaymentSucceeded'

function read(name: unknown, on: unknown = succeeded, options: object = {}) {
  return readListener(name, { on, run, options })
}

test('a listener is in the transaction and hears of nothing superseded, unless it says so', () => {
  const plain = { name: 'grant', types: [succeeded], queued: false, superseded: false, run }
  assert.deepEqual(read('grant'), plain)
  assert.deepEqual(read('grant', succeeded, { queued: undefined, superseded: undefined }), plain)
  assert.deepEqual(read('grant', succeeded, { queued: true }), { ...plain, queued: true })
  assert.deepEqual(read('grant', succeeded, { superseded: true }), { ...plain, superseded: true })
})

test('a list of events is kept in its order, each of them once', () => {
  const list = ['PaymentFailed', succeeded, 'PaymentFailed']
  assert.deepEqual(read('grant', list).types, ['PaymentFailed', succeeded])
})

test('a name is text of 1 to 200 characters, in any script', () => {
  for (const name of ['g', 'take back', 'відкрити доступ', 'g'.repeat(200)]) {
    assert.equal(read(name).name, name)
  }
  const rule = 'must be text of 1 to 200 characters without control characters'
  for (const [name, shown] of [
    [undefined, 'undefined'],
    [run, 'function'],
    [{}, 'object'],
    ['', '""'],
    ['  ', '"  "'],
    ['a\nb', String.raw`"a\nb"`],
    ['grant\ud800', String.raw`"grant\ud800"`],
    [`-${'g'.repeat(200)}`, `"-${'g'.repeat(79)}"`],
  ] as const) {
    const message = `the name of a listener of PaymentSucceeded ${rule}, got ${shown}`
    assert.throws(() => read(name), { code: 'listener_unnamed', message })
  }
  const message = /^the name of a listener of PaymentSucceeded, PaymentFailed must be/
  assert.throws(() => read('', [succeeded, 'PaymentFailed']), { message })
})

test('an event that does not exist is refused, in a list too', () => {
  const code = 'event_type_unknown'
  for (const on of ['PaymentLost', ['PaymentLost'], [succeeded, 'PaymentLost']]) {
    const message = 'listener grant: there is no event PaymentLost'
    assert.throws(() => read('grant', on), { code, message })
  }
  const message = 'listener grant: there is no event undefined'
  assert.throws(() => readListener('grant', { on: undefined, run, options: {} }), { code, message })
})

test('what else is wrong with a listener is said', () => {
  const isRefused = (read: () => unknown, fault: string) =>
    assert.throws(read, {
      code: 'setting_invalid',
      message: `listener grant: ${fault}`,
      fix: 'Register it in the form that docs/4-listeners.md shows.',
    })
  isRefused(() => read('grant', []), 'the list of its events is empty')
  isRefused(() => read('grant', succeeded, { queud: true }), 'there is no option "queud"')
  const noFunction = { on: succeeded, run: 'grant', options: {} }
  isRefused(() => readListener('grant', noFunction), 'what it runs must be a function')
  for (const options of [null, true, 'queued', [], new Map([['queued', true]])]) {
    const given = { on: succeeded, run, options }
    isRefused(() => readListener('grant', given), 'its options must be an object')
  }
  for (const option of ['queued', 'superseded']) {
    const options = { [option]: 'no' }
    isRefused(() => read('grant', succeeded, options), `\`${option}\` must be true or false`)
  }
})
