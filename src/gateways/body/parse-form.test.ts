import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseForm } from './parse-form.ts'

function fieldsOf(text: string): readonly (readonly [string, string])[] {
  const result = parseForm(text)
  assert.ok(result.ok, `refused: ${text}`)
  return [...result.value]
}

test('a form is decoded exactly once, with + as a space', () => {
  assert.deepEqual(fieldsOf('data=a+b%20c%2Bd&signature=x%2525'), [
    ['data', 'a b c+d'],
    ['signature', 'x%25'],
  ])
})

test('names are literal: no nesting, no array names, no separator but &', () => {
  assert.deepEqual(fieldsOf('data[]=a&data[x]=b&data.x=c&a=1;b=2'), [
    ['data[]', 'a'],
    ['data[x]', 'b'],
    ['data.x', 'c'],
    ['a', '1;b=2'],
  ])
})

test('empty pairs are skipped, and a name alone has an empty value', () => {
  assert.deepEqual(fieldsOf('&a&&b=&c==d&'), [
    ['a', ''],
    ['b', ''],
    ['c', '=d'],
  ])
})

test('what is ambiguous or not decodable is refused with its reason', () => {
  const cases = [
    ['data=a&data=b', 'duplicate_key'],
    ['data=a&d%61ta=b', 'duplicate_key'],
    ['a+b=1&a%20b=2', 'duplicate_key'],
    ['a=%zz', 'invalid_form'],
    ['a=%', 'invalid_form'],
    ['a=%4', 'invalid_form'],
    ['%g1=a', 'invalid_form'],
    ['a=%ff', 'invalid_utf8'],
    ['a=%c0%af', 'invalid_utf8'],
    ['a=%ed%a0%80', 'invalid_utf8'],
  ] as const
  for (const [text, reason] of cases) assert.deepEqual(parseForm(text), { ok: false, reason }, text)
})

test('it agrees with URLSearchParams on every form of distinct names', () => {
  const fields = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }))
  fc.assert(
    fc.property(fields, (values) => {
      const text = new URLSearchParams(values).toString()
      assert.deepEqual(fieldsOf(text), [...new URLSearchParams(text)])
    }),
  )
})

test('a form of 200 fields is read, and one of more is refused before it is', () => {
  const fields = (count: number) =>
    Array.from({ length: count }, (_none, at) => `k${at}=1`).join('&')
  assert.equal(fieldsOf(fields(200)).length, 200)
  for (const text of [fields(201), '&'.repeat(200), `${'&'.repeat(200)}%zz`]) {
    assert.deepEqual(parseForm(text), { ok: false, reason: 'too_many_fields' })
  }
})
