import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { maskCardData } from './mask-card-data.ts'
import { anyText } from '../../test/support/any-text.ts'

const card = '4111111111111111'
const shown = '411111******1111'

const masked = (text: string, read: readonly string[] = []) => maskCardData(text, read)

test('security codes and client secrets are hidden by their names, whatever the case', () => {
  const names = ['cvv', 'CVV2', 'cvc', 'card_cvv', 'cardCvc2', 'client_secret', 'clientSecret']
  for (const name of [...names, 'security_code', 'cardSecurityCode', 'verification_value']) {
    for (const value of ['"123"', '123', '"a \\" b"', '"\\\\"', '0']) {
      const text = `{"a":[{"${name}" : ${value},"b":1.50}]}`
      assert.equal(masked(text), `{"a":[{"${name}" : "[masked]","b":1.50}]}`)
      assert.equal(maskCardData(text, undefined), masked(text))
      assert.equal(masked(text, [name]), text, 'what the gateway reads stays')
    }
    for (const value of ['null', 'true', '""', '{}', '[]']) {
      assert.equal(masked(`{"${name}":${value}}`), `{"${name}":${value}}`)
    }
  }
  for (const name of ['cvc_check', 'secret', 'cvv_verify', 'xcvv', 'client_secret_x']) {
    assert.equal(masked(`{"${name}":"123"}`), `{"${name}":"123"}`)
  }
})

test('a number in a field for card numbers is masked however it is grouped', () => {
  for (const name of ['card_number', 'cardNumber', 'pan', 'PAN', 'card_no']) {
    for (const value of [`"${card}"`, '"4111 1111 1111 1111"', '"4111-1111-1111-1111"', card]) {
      assert.equal(maskCardData(`{"${name}":${value}}`, undefined), `{"${name}":"${shown}"}`)
    }
    for (const value of ['"411111******1111"', '"card 1"', '1111', '""']) {
      assert.equal(masked(`{"${name}":${value}}`), `{"${name}":${value}}`)
    }
  }
})

test('a JSON text within a string is masked likewise, and stays one', () => {
  const inner = { cvv: '123', card_number: card, cvc: 9, note: `by ${card}`, a: 'b' }
  const text = masked(JSON.stringify({ info: JSON.stringify(inner) }))
  const read = JSON.parse(text) as { info: string }
  assert.deepEqual(JSON.parse(read.info), {
    cvv: '[masked]',
    card_number: shown,
    cvc: '[masked]',
    note: `by ${shown}`,
    a: 'b',
  })
})

test('a card number is masked wherever it stands, but not where the gateway reads', () => {
  const text = (one: string) =>
    `{"order":"${card}","x":{"note":"paid by ${one}, ok"},"n":[{"order":${card}},"${one}",1],"order":["${card}"],"t":"a\\n${one}"}`
  assert.equal(masked(text(card), ['order']), text(shown))
  assert.equal(masked(`{"a":${card}}`), `{"a":"${shown}"}`)
  assert.equal(masked(`{"a":[[],{"b":1},${card}]}`, ['b']), `{"a":[[],{"b":1},"${shown}"]}`)
  assert.equal(maskCardData(text(card), undefined), text(card), 'it is not known what is read')
})

test('a card number is found behind whatever JSON or a URL escapes, and as it stands on the card', () => {
  for (const before of [
    '\\n',
    '\\u2116',
    '\\u041D',
    '%20',
    '%3d',
    'n%3D',
    '№',
    '"',
    '=',
    '/',
    '\\\\',
  ]) {
    const text = (number: string) => `{"a":"${before === '"' ? '\\"' : before}${number}"}`
    assert.equal(masked(text(card)), text(shown), before)
  }
  for (const number of ['4111 1111 1111 1111', '4111-1111-1111-1111']) {
    assert.equal(masked(`{"a":"no ${number} 12/27"}`), `{"a":"no ${shown} 12/27"}`)
    assert.equal(masked(`{"a":"${number}"}`, ['a']), `{"a":"${number}"}`)
    assert.equal(maskCardData(`{"a":"${number}"}`, undefined), `{"a":"${number}"}`)
  }
  assert.equal(masked('{"a":"3782 822463 10005"}'), '{"a":"378282*****0005"}')
})

test('a field that the gateway reads is known however its name is spelt', () => {
  const text = `{"\\u006frder":"${card}","a\\"b":${card},"order\\u0020":["${card}"]}`
  assert.equal(masked(text, ['order', 'a"b', 'order ']), text)
})

test('a text of megabytes is masked like any other', () => {
  const long = 'a'.repeat(10_000_000)
  assert.equal(masked(`{"cvv":"${long}"}`), '{"cvv":"[masked]"}')
  const text = (number: string) => `{"a":"${long}","b":"${number}"}`
  assert.equal(masked(text(card)), text(shown))
  const brackets = (number: string) => `[${'[],{},'.repeat(200_000)}"${number}"]`
  assert.equal(masked(brackets(card)), brackets(shown))
})

test('what only looks like a card number stays', () => {
  const texts = [
    '4111111111111112',
    '1111111111111117',
    '7111111111111116',
    '4111111111111',
    '41111111111111111111',
    `a${card}`,
    `pi_${card}`,
    `${card}b`,
    `+${card}`,
    `0.${card}`,
    `${card}.50`,
    '4111 1111 1111 1112',
    '4111 1111-1111 1111',
    '4111-1111-1111-1111a',
    'a4111-1111-1111-1111',
    '+4111 1111 1111 1111',
    'f4111111-1111-4111-8111-111111111111',
    '\\\\u4111111111111111',
  ]
  for (const one of texts) {
    assert.equal(masked(`{"a":"x ${one} y"}`), `{"a":"x ${one} y"}`, one)
  }
  for (const one of [`-${card}`, `${card}.5`, `1e${card}`, `0.${card}`]) {
    assert.equal(masked(`{"a":${one}}`), `{"a":${one}}`, one)
  }
})

test('for any value: it stays JSON, reads the same but for what is hidden, and is the same twice', () => {
  const text = fc.oneof(
    anyText(),
    fc.constantFrom(card, `a ${card}`, '\\', '"', `"${card}`, `{"cvv":"1","a":"${card}"}`),
  )
  const name = fc.oneof(
    fc.constantFrom('cvv', 'pan', 'kept', 'client_secret', 'a"b\\'),
    fc.string(),
  )
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.constantFrom(null, true, Number(card), 7),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(name, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }))
  fc.assert(
    fc.property(tree, fc.constantFrom(0, 1), (value, spaces) => {
      const whole = JSON.stringify(value, null, spaces)
      const kept = masked(whole, ['kept'])
      const shape = (of: unknown) =>
        JSON.stringify(of, (_key, one: unknown) => (typeof one === 'object' ? one : 0))
      assert.equal(shape(JSON.parse(kept)), shape(value))
      assert.equal(masked(kept, ['kept']), kept)
    }),
    { numRuns: 500 },
  )
})
