import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { jsonTextOf } from './json-text.ts'
import { parseJson } from './parse-json.ts'

function written(text: string): string {
  const parsed = parseJson(text)
  assert.ok(parsed.ok, `refused: ${text}`)
  return jsonTextOf(parsed.value)
}

test('numbers are written as they were, and members in their order', () => {
  const texts = [
    '{"n":[1.10,-0,-0.0,1e400,4.999E+3,12345678901234567890],"o":{"2":null,"1":true}}',
    '{"__proto__":{"a":[]},"a":{},"":false}',
    '[]',
    '{}',
    'null',
    '1.0',
    '"1.0"',
  ]
  for (const text of texts) assert.equal(written(text), text)
  assert.equal(written(' { "a" : [ 1 , 2 ] } '), '{"a":[1,2]}')
})

test('texts keep their content: what needs an escape has one, and nothing else', () => {
  const text = String.raw`{"\"\u0000\ud800":"\"\\\n\u0000\ud800ї"}`
  assert.equal(written(text), text)
  assert.equal(written(String.raw`"\u0457\/"`), '"ї/"')
})

test('any JSON is written as JavaScript writes it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const text = JSON.stringify(value)
      assert.equal(written(text), text)
    }),
  )
})
