import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { growth } from '../../../test/support/growth.ts'
import { numberTextOf, path, type JsonValue } from './json.ts'
import { flatFields, parseJson, type JsonLimits } from './parse-json.ts'
import { anyText } from '../../../test/support/any-text.ts'

function read(text: string): JsonValue {
  const result = parseJson(text)
  assert.ok(result.ok, `refused: ${text.slice(0, 50)}`)
  return result.value
}

function reasonOf(text: string): string {
  const result = parseJson(text)
  return result.ok ? 'accepted' : result.reason
}

/** What `JSON.parse` would have made of it: the comparison for everything that it reads rightly. */
function plain(value: JsonValue): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Map) {
    return Object.fromEntries(Array.from(value, ([key, item]) => [key, plain(item)]))
  }
  if (Array.isArray(value)) return value.map((item: JsonValue) => plain(item))
  return Number(numberTextOf(value))
}

test('numbers keep their source text, however large or precise', () => {
  for (const lexeme of ['0', '-0', '4999', '4999.0', '4.999e3', '1e400', '9007199254740993']) {
    assert.deepEqual(read(lexeme), { number: lexeme })
    assert.equal(numberTextOf(path(read(`{"a":[],"n":${lexeme}}`), 'n')), lexeme)
  }
})

test('a number of 900,000 digits is read in linear time', () => {
  const times = growth(112_500, (length) => {
    const digits = '7'.repeat(length)
    assert.equal(numberTextOf(read(digits)), digits)
    assert.equal(numberTextOf(read(`0.${digits}`)), `0.${digits}`)
  })
  assert.ok(times < 6, `${times} times as dear`)
})

test('every text that is no strict JSON is invalid_json', () => {
  const texts = [
    '',
    ' ',
    'NaN',
    'Infinity',
    '-Infinity',
    'undefined',
    'True',
    'nul',
    'nulll',
    'truefalse',
    '01',
    '-01',
    '+1',
    '.5',
    '5.',
    '-',
    '1e',
    '1e+',
    '0x10',
    '1_000',
    '1 2',
    '--1',
    '١',
    '[1,]',
    '[,1]',
    '[1 2]',
    '[',
    ']',
    '[1',
    '{',
    '}',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '{a:1}',
    "{'a':1}",
    '{"a":1 "b":2}',
    '{1:2}',
    '{"a":1}}',
    '{"a":1} x',
    '"a" "b"',
    '"',
    '"a',
    '"\\',
    '"\\"',
    '"\\x41"',
    '"\\u12"',
    '"\\u12g4"',
    '"\\U0041"',
    "'a'",
    '"a\nb"',
    '"\u0000"',
    '"\u001f"',
    '// x\n1',
    '1 // x',
    '/* x */1',
    '\ufeff1',
    '1\ufeff',
    '[1,\ufeff2]',
    '\u00a01',
    '\u20281',
    '\v1',
    '\f1',
  ]
  for (const text of texts) assert.equal(reasonOf(text), 'invalid_json', JSON.stringify(text))
})

test('it reads exactly what JSON.parse reads, for every JSON value however it is spaced', () => {
  const spacing = fc.constantFrom(undefined, 1, 4, '\t', '\n')
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), spacing, (text, indent) => {
      const spaced = JSON.stringify(JSON.parse(text), null, indent)
      // Equal as texts: key order counts, -0 does not (JSON.stringify drops its sign).
      assert.equal(JSON.stringify(plain(read(spaced))), JSON.stringify(JSON.parse(spaced)))
    }),
  )
})

test('it accepts no text that JSON.parse refuses, and refuses none but for its own limits', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"',
    '"a"',
    '"b"',
    '\\',
    '1',
    '0',
    '-',
    '.',
    'e',
    '+',
    'true',
    'null',
    ' ',
    '\n',
    '\\u0061',
    '\u0001',
    '\ufeff',
    'ж',
    '"a":1',
  )
  const texts = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(texts, (text) => {
      const reason = reasonOf(text)
      if (reason === 'duplicate_key') return
      assert.equal(reason === 'accepted', isJson(text))
    }),
    { numRuns: 3000 },
  )
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('a key given twice is duplicate_key, also when only its escapes differ', () => {
  const texts = [
    '{"status":"failure","status":"success"}',
    '{"a":1,"\\u0061":2}',
    '{"\\u0061":1,"a":2}',
    '{"x":[{"k":1,"k":1}]}',
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
    '{"/":1,"\\/":2}',
  ]
  for (const text of texts) assert.equal(reasonOf(text), 'duplicate_key', text)
  assert.equal(reasonOf('{"a":{"a":1},"A":2,"ａ":3}'), 'accepted')
  // Two spellings of one glyph are two keys: nothing is normalised.
  assert.equal(reasonOf('{"\\u00e9":1,"e\\u0301":2}'), 'accepted')
})

test('nesting over 64 is too_deep and never exhausts the stack', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  assert.equal(reasonOf(nested(64)), 'accepted')
  for (const depth of [65, 1_000, 100_000]) assert.equal(reasonOf(nested(depth)), 'too_deep')
  assert.equal(reasonOf('['.repeat(1024 * 1024)), 'too_deep')
  assert.equal(reasonOf('{"a":'.repeat(200_000)), 'too_deep')
  assert.equal(reasonOf(`{"a":${nested(63)}}`), 'accepted')
  assert.equal(reasonOf(`{"a":${nested(64)}}`), 'too_deep')
  assert.equal(reasonOf(`[${Array(1000).fill('[]').join(',')}]`), 'accepted')
})

test('NUL and lone surrogate escapes are content', () => {
  assert.equal(read('"\\u0000"'), '\0')
  assert.equal(read('"\\ud800x"'), '\ud800x')
  assert.equal(read('"\\udc00\\ud800"'), '\udc00\ud800')
  assert.equal(read('"\\ud83d\\ude00"'), '😀')
})

test('keys that name prototype members are ordinary keys', () => {
  const value = read('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}}}')
  assert.deepEqual(path(value, '__proto__', 'polluted'), { number: '1' })
  assert.deepEqual(path(value, 'constructor', 'prototype', 'polluted'), { number: '2' })
  assert.equal(path(value, 'toString'), undefined)
  assert.equal(({} as { polluted?: number }).polluted, undefined)
})

test('60,000 keys are read in linear time', () => {
  const times = growth(7_500, (length) => {
    const members = Array.from({ length }, (_, index) => `"key${index}":${index}`)
    assert.equal((read(`{${members.join(',')}}`) as ReadonlyMap<string, unknown>).size, length)
  })
  assert.ok(times < 6, `${times} times as dear`)
})

test('a text of 1 MB is read in linear time', () => {
  const times = growth(31_250, (length) => {
    assert.equal(reasonOf(JSON.stringify({ text: '\\"'.repeat(length) })), 'accepted')
  })
  assert.ok(times < 6, `${times} times as dear`)
})

const flat = (text: string, limits: JsonLimits = flatFields) => parseJson(text, limits)
const reasonWithin = (text: string, limits?: JsonLimits) => {
  const result = flat(text, limits)
  return result.ok ? 'accepted' : result.reason
}

test('with a limit, more members are refused before they are read, wherever they are', () => {
  const members = (count: number) => Array.from({ length: count }, (_none, at) => `"k${at}":1`)
  assert.equal(flat(`{${members(200).join()}}`).ok, true)
  // What follows the one that is too many is never looked at.
  assert.equal(reasonWithin(`{${members(200).join()},?`), 'too_many_fields')
  assert.equal(reasonWithin(`[${'1,'.repeat(200)}?`), 'too_many_fields')
  const limits = { mostMembers: 3, keptDepth: 2 }
  assert.equal(reasonWithin('{"a":[1,2]}', limits), 'accepted')
  assert.equal(reasonWithin('{"a":[1,2],"b":3}', limits), 'too_many_fields')
  assert.equal(reasonWithin(`{"a":{"b":[${'1,'.repeat(500)}1]}}`, limits), 'accepted')
})

test('what is nested deeper than it is kept reads as an empty list, and the rest as ever', () => {
  const nested = ['[]', '{}', '[1,{"a":[2]}]', '{"a":"]}","b":"\\\\","c":"\\"}"}', '{"a":1,"a":2}']
  for (const text of nested) {
    const read = flat(`{ "x" : ${text} , "y":"z","n":1.0}`)
    assert.ok(read.ok, text)
    assert.deepEqual(
      read.value,
      new Map<string, JsonValue>([
        ['x', []],
        ['y', 'z'],
        ['n', { number: '1.0' }],
      ]),
    )
  }
  for (const text of ['[', '{', '[}', '[[]', '{"a":"}', '{"a":"\\"}', ']']) {
    assert.equal(reasonWithin(`{"x":${text}`), 'invalid_json', text)
  }
  assert.equal(reasonWithin(`{"x":${'['.repeat(63)}${']'.repeat(63)}}`), 'accepted')
  assert.equal(reasonWithin(`{"x":${'['.repeat(64)}${']'.repeat(64)}}`), 'too_deep')
})

test('what is read with limits is what is read without, where nothing is nested', () => {
  const value = fc.oneof(anyText(), fc.integer(), fc.constant(null), fc.boolean())
  const space = fc.constantFrom('', ' ', '\n')
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value), space, (fields, blank) => {
      const text = blank + JSON.stringify(fields, null, blank) + blank
      assert.deepEqual(flat(text), parseJson(text))
      assert.equal(flat(`${text}x`).ok, false)
    }),
  )
})
