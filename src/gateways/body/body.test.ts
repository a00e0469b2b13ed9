import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeText } from './decode-text.ts'
import { parseFormBody } from './parse-form-body.ts'
import { parseJsonBody, readJsonText } from './parse-json-body.ts'
import type { Payload } from './payload.ts'
import { readStored } from './read-stored.ts'
import { anyText } from '../../../test/support/any-text.ts'

const bytesOf = (text: string) => Buffer.from(text, 'utf8')
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

function readable(payload: Payload) {
  assert.notEqual(payload.kind, 'unreadable')
  if (payload.kind === 'unreadable') throw new Error(payload.reason)
  return payload
}

test('text is decoded as strict UTF-8', () => {
  const cases = [
    ['ff', 'invalid_utf8'],
    ['c0 af', 'invalid_utf8'],
    ['ed a0 80', 'invalid_utf8'],
    ['f4 90 80 80', 'invalid_utf8'],
    ['e2 82', 'invalid_utf8'],
    ['ff fe 7b 00 7d 00', 'invalid_utf8'],
    ['00', 'nul_character'],
    ['7b 00 7d', 'nul_character'],
  ] as const
  for (const [bytes, reason] of cases) {
    assert.deepEqual(decodeText(hex(bytes)), { ok: false, reason }, bytes)
    assert.deepEqual(parseJsonBody(hex(bytes)), { kind: 'unreadable', reason }, bytes)
    assert.deepEqual(parseFormBody(hex(bytes)), { kind: 'unreadable', reason }, bytes)
  }
})

test('one byte order mark is stripped, and the text is then not the whole truth', () => {
  const marked = readable(parseJsonBody(bytesOf('\ufeff{"a":1}')))
  assert.equal(marked.text, '{"a":1}')
  assert.equal(marked.exact, false)
  assert.equal(readable(parseJsonBody(bytesOf('{"a":1}'))).exact, true)
  assert.deepEqual(parseJsonBody(bytesOf('\ufeff\ufeff{}')), {
    kind: 'unreadable',
    reason: 'invalid_json',
  })
})

test('each unreadable JSON body says why', () => {
  const cases = [
    ['', 'empty'],
    ['\ufeff', 'empty'],
    ['  ', 'invalid_json'],
    ['a=b', 'invalid_json'],
    ['{"a":1,"a":2}', 'duplicate_key'],
    ['['.repeat(65), 'too_deep'],
  ] as const
  for (const [text, reason] of cases) {
    assert.deepEqual(parseJsonBody(bytesOf(text)), { kind: 'unreadable', reason })
  }
  assert.deepEqual(parseFormBody(bytesOf('')), { kind: 'unreadable', reason: 'empty' })
})

test('a stored JSON text gives the same value as the wire', () => {
  const spacing = fc.constantFrom(undefined, 2, '\t')
  fc.assert(
    fc.property(fc.json(), spacing, fc.boolean(), (json, indent, marked) => {
      const text = JSON.stringify(JSON.parse(json), null, indent)
      const wire = readable(parseJsonBody(bytesOf(marked ? `\ufeff${text}` : text)))
      const stored = readable(readStored('json', wire.text))
      assert.deepEqual(stored.value, wire.value)
      assert.equal(stored.text, wire.text)
    }),
  )
})

test('a stored form gives the same fields as the wire, in the same order', () => {
  const names = fc.string({ unit: 'grapheme', minLength: 1 })
  const values = anyText()
  fc.assert(
    fc.property(fc.dictionary(names, values), (fields) => {
      const { b: _b, 2: _two, __proto__: _proto, ...others } = fields
      const entries = [['b', '1'], ['2', 'x'], ['__proto__', 'y'], ...Object.entries(others)]
      const wire = parseFormBody(bytesOf(new URLSearchParams(entries).toString()))
      const stored = readStored('form', readable(wire).text)
      assert.deepEqual(stored, wire)
      assert.deepEqual(
        [...(readable(stored).value as ReadonlyMap<string, string>).keys()],
        [...(readable(wire).value as ReadonlyMap<string, string>).keys()],
      )
    }),
    { numRuns: 30 },
  )
})

test('a stored text that was tampered with is unreadable and nothing throws', () => {
  assert.deepEqual(readStored('json', '{'), { kind: 'unreadable', reason: 'invalid_json' })
  for (const text of ['[]', '"a"', '{"a":1}', '{"a":null}']) {
    assert.deepEqual(readStored('form', text), { kind: 'unreadable', reason: 'invalid_form' })
  }
})

test('no bytes make a parser throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      parseJsonBody(bytes)
      parseFormBody(bytes)
    }),
  )
})

test('of an object only the text is read, and it reads as the body does', () => {
  for (const text of ['{}', '{"a":[{"b":"}"}],"c":1.0}', '\ufeff{"a":"\\\""}']) {
    const { value, ...unparsed } = readable(parseJsonBody(bytesOf(text)))
    assert.deepEqual(readJsonText(bytesOf(text)), unparsed)
    assert.deepEqual(readable(readStored('json', unparsed.text)).value, value)
  }
})

test('what does not look like an object, or is nested too deep, is parsed at once', () => {
  const nested = `{"a":${'['.repeat(64)}${']'.repeat(64)}}`
  for (const text of ['[]', '1', ' {}', '{} ', '{}{}', '{', '{"a":1}}', 'x', '', nested]) {
    assert.deepEqual(readJsonText(bytesOf(text)), parseJsonBody(bytesOf(text)), text)
  }
  assert.deepEqual(readJsonText(hex('7b ff 7d')), { kind: 'unreadable', reason: 'invalid_utf8' })
})

test('what the text does not show is found when it is processed', () => {
  for (const [text, reason] of [
    ['{"a":1,"a":2}', 'duplicate_key'],
    ['{"a":01}', 'invalid_json'],
  ] as const) {
    assert.equal(readJsonText(bytesOf(text)).kind, 'json')
    assert.deepEqual(readStored('json', text), { kind: 'unreadable', reason })
  }
})
