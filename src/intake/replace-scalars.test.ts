import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { replaceScalars } from './replace-scalars.ts'

type Told = readonly [piece: string, name: string]

function toldOf(text: string): readonly Told[] {
  const told: Told[] = []
  const same = replaceScalars(text, (piece, name) => {
    told.push([piece, name])
    return piece
  })
  assert.equal(same, text)
  return told
}

/** Each string and number with the name of the member that it is in, as a parsed value has them. */
function scalarsOf(value: unknown, name = ''): readonly Told[] {
  if (typeof value === 'string' || typeof value === 'number') return [[JSON.stringify(value), name]]
  if (Array.isArray(value)) return value.flatMap((item) => scalarsOf(item, name))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => scalarsOf(member, key))
}

test('every string and number comes with its name, and nothing else does', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.constantFrom(0, 1), (value, spaces) => {
      const text = JSON.stringify(value, null, spaces)
      assert.deepEqual(toldOf(text), scalarsOf(JSON.parse(text)))
    }),
  )
})

test('names are read as they are meant, values told as they are spelt', () => {
  const text = String.raw`{"\u0061" : "\"\\", "b" :[-1.50E+3,{"c":true},"d:"],"e\"":[[]],"f":-0}`
  assert.deepEqual(toldOf(text), [
    [String.raw`"\"\\"`, 'a'],
    ['-1.50E+3', 'b'],
    ['"d:"', 'b'],
    ['-0', 'f'],
  ])
})

test('what is given back stands in its place', () => {
  const text = '{"a":[1,"2",null],"b":"a","c":3}'
  const changed = replaceScalars(text, (piece, name) => (name === 'b' ? piece : `<${piece}>`))
  assert.equal(changed, '{"a":[<1>,<"2">,null],"b":"a","c":<3>}')
})
