import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isJsonObject, type JsonValue } from '../gateways/body/json.ts'
import { parseFormBody } from '../gateways/body/parse-form-body.ts'
import { parseJson } from '../gateways/body/parse-json.ts'
import { parseJsonBody } from '../gateways/body/parse-json-body.ts'
import type { Payload } from '../gateways/body/payload.ts'
import { readStored } from '../gateways/body/read-stored.ts'
import { maskToken } from '../gateways/signing/token-reference.ts'
import { maskSecrets } from './stored-content.ts'
import { anyText } from '../../test/support/any-text.ts'

const fields = ['recToken', 'cardToken'] as const
const token = 'tok_8d1f0c52e7'

const json = (text: string): Payload => parseJsonBody(Buffer.from(text))

function textOf(payload: Payload): string {
  assert.ok(payload.kind !== 'unreadable')
  return payload.text
}

const masked = (text: string): string => textOf(maskSecrets(json(text), fields))

test('a named field is masked at any depth, and nothing else is touched', () => {
  const text = (one: string, two: string) =>
    `{"b":1,"10":[{"a":{"recToken":"${one}"}}],"2":"${token}","cardToken":"${two}","a":4.50}`
  assert.equal(masked(text(token, 'x')), text(maskToken(token), maskToken('x')))
})

test('what the mask of a token is, is known', () => {
  // The beginning of SHA-256 of "abc", FIPS 180-2.
  assert.equal(
    masked('{"recToken":"abc"}'),
    '{"recToken":"masked:ba7816bf8f01cfea414140de5dae2223"}',
  )
})

test('numbers keep their spelling and texts their content', () => {
  const text = String.raw`{"recToken":"t","n":[1e400,-0.0,10.50,9007199254740993],"s":"\ud800\u0000é"}`
  const kept = text.replace('"t"', JSON.stringify(maskToken('t')))
  // U+0000 and a lone surrogate can only be written as escapes.
  assert.equal(masked(text), kept)
})

test('whatever stands in a named field is masked whole, unless it says nothing', () => {
  const hidden = ['7', '1.50', 'true', '[]', '{}', '["a",1.0]', `{"value":"${token}","n":1.0}`]
  for (const text of hidden) {
    assert.equal(masked(`{"recToken":${text}}`), `{"recToken":"${maskToken(text)}"}`)
  }
  for (const text of ['null', 'false', '""']) {
    assert.equal(masked(`{"recToken": ${text}}`), `{"recToken": ${text}}`)
  }
})

test('where no named field has a value it is the same payload, with its exact text', () => {
  const texts = ['{ "a" : [1.0, {"rectoken": "other case"}] }', '"recToken"', '["recToken"]', '7']
  for (const payload of texts.map(json)) assert.equal(maskSecrets(payload, fields), payload)
  const full = json(`{ "recToken": "${token}" }`)
  assert.equal(maskSecrets(full, []), full)
  const form = parseFormBody(Buffer.from('recToken=&cardtoken=x'))
  assert.equal(maskSecrets(form, fields), form)
  const broken = json(`{"recToken":"${token}"`)
  assert.equal(maskSecrets(broken, fields), broken)
})

test('no way of writing a name or a value evades it', () => {
  const escaped = String.raw`{"\u0072ecToken":"${token}","a\/b":{"rec\u0054oken":"\u0074ok"}}`
  assert.equal(
    masked(escaped),
    `{"recToken":"${maskToken(token)}","a/b":{"recToken":"${maskToken('tok')}"}}`,
  )
  const prototypes = `{"__proto__":{"recToken":"${token}"},"constructor":[{"cardToken":"${token}"}]}`
  assert.equal(masked(prototypes), prototypes.replaceAll(token, maskToken(token)))
  const own = maskSecrets(json(`{"a":{"__proto__":"${token}"}}`), ['__proto__'])
  assert.equal(textOf(own), `{"a":{"__proto__":"${maskToken(token)}"}}`)
  const lone = maskSecrets(json(String.raw`{"x\ud800":"${token}","recToken":"\udfff"}`), [
    'x\ud800',
    'recToken',
  ])
  assert.doesNotMatch(textOf(lone), /tok_|udfff/)
  // One that looks masked is a value like any other.
  assert.notEqual(masked(`{"recToken":"${maskToken('x')}"}`), `{"recToken":"${maskToken('x')}"}`)
})

test('the fields of a form are masked likewise, in their order', () => {
  const form = parseFormBody(Buffer.from(`b=1&10=2&rec%54oken=${token}&2=3&cardToken=`))
  const shown = maskSecrets(form, fields)
  const text = `{"b":"1","10":"2","recToken":"${maskToken(token)}","2":"3","cardToken":""}`
  assert.equal(textOf(shown), text)
  assert.deepEqual(readStored('form', text), shown)
})

/** The value with each secret replaced as the rule says it, by another way of walking. */
function expected(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expected)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]): [string, unknown] => {
    const says = member !== null && member !== false && member !== ''
    if (!(fields as readonly string[]).includes(name) || !says) return [name, expected(member)]
    return [name, maskToken(typeof member === 'string' ? member : JSON.stringify(member))]
  })
  return Object.fromEntries(members)
}

function depthOf(value: JsonValue): number {
  const inner = isJsonObject(value) ? [...value.values()] : Array.isArray(value) ? value : []
  return inner.reduce<number>((deepest, one) => Math.max(deepest, 1 + depthOf(one)), 0)
}

test('for any value: the written text reads as the masked value, and all else is unchanged', () => {
  const name = fc.oneof(fc.constantFrom(...fields, '__proto__', 'a'), anyText())
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'medium' },
      fc.constantFrom(null, true, false, '', token),
      fc.integer(),
      anyText(),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(name, tie('tree'), { maxKeys: 5, noNullPrototype: true }),
    ),
  }))
  let changes = 0
  fc.assert(
    fc.property(tree, (value) => {
      const text = JSON.stringify(value)
      const payload = json(text)
      fc.pre(payload.kind === 'json' && depthOf(payload.value) < 60)
      const shown = maskSecrets(payload, fields)
      assert.ok(shown.kind === 'json')
      assert.equal(shown.text, JSON.stringify(expected(value)))
      assert.deepEqual(parseJson(shown.text), { ok: true, value: shown.value })
      assert.equal(shown === payload, shown.text === text)
      if (shown !== payload) changes += 1
    }),
    { numRuns: 500 },
  )
  assert.ok(changes > 20, `only ${changes} values had something to mask`)
})
