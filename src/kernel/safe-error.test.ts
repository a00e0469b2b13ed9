import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { isQuittanceError, QuittanceError } from './errors.ts'
import { blankedOut } from './safe-error.ts'
import { scrubber, secret } from './secret.ts'

const word = 'canary-of-the-provider'
const blanked = (thrown: unknown) => blankedOut(thrown, scrubber([secret(word)]))
const withField = (field: PropertyDescriptor) =>
  Object.defineProperty(new Error('no'), 'message', field)

const cyclic = new Error(word, { cause: new Error(word) })
Object.assign(cyclic.cause as Error, { cause: cyclic })
const headers = { authorization: `Bearer ${word}` }

for (const [what, thrown] of Object.entries({
  'a text': word,
  'an object': { message: word },
  'an error with fields': new QuittanceError('provider_refused', 'no', {
    providerCode: word,
    fix: word,
  }),
  'an error with the request that failed': Object.assign(new Error('no'), { request: { headers } }),
  'an error that a text has caused': new Error('no', { cause: word }),
  'an error of several': new AggregateError([word, new Error(word), { headers }], 'no'),
  'an error with its own cause for a cause': cyclic,
  'an error whose message has a getter': withField({ get: () => word, configurable: true }),
  'an error that refuses to be read': withField({
    get: () => {
      throw new Error(word)
    },
  }),
  'an error with a frozen cause': new Error('no', { cause: Object.freeze(new Error(word)) }),
})) {
  test(`${what} is thrown without a secret`, () => {
    const shown = inspect(blanked(thrown), { depth: 9, showHidden: true })
    assert.doesNotMatch(shown, /canary/)
  })
}

test('what is thrown stays the same error, and what it holds stays as it is', () => {
  const inner = new Error(word)
  const error = Object.assign(new AggregateError([inner], word), { code: 'E_NO', sent: { a: 1 } })
  const { sent } = error
  assert.equal(blanked(error), error)
  assert.deepEqual([error.message, inner.message], ['[secret]', '[secret]'])
  assert.deepEqual([error.errors[0], error.code, error.sent], [inner, 'E_NO', sent])
  assert.equal(error.sent, sent)
  blanked(Object.assign(error, { headers }))
  assert.equal(headers.authorization, `Bearer ${word}`)
})

test('a frozen error is known by its code all the same', () => {
  const error = blanked(Object.freeze(new QuittanceError('provider_refused', `no ${word}`)))
  assert.ok(isQuittanceError(error))
  assert.equal(error.code, 'provider_refused')
  assert.match(error.message, /no \[secret\]$/)
})
