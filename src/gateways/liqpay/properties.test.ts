import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  base64,
  callback,
  form,
  interpretText,
  paid,
  privateKey,
  publicKey,
  sign,
  verdictOf,
} from '../../../test/gateways/liqpay/callbacks.ts'

const data = base64(JSON.stringify(callback()))
const sent = { data, signature: sign(data) }
const mismatches = /^(?:data_missing|signature_missing|signature_malformed|signature_mismatch)$/

function assertRefused(fields: Readonly<Record<string, string>>): void {
  for (const body of [form(fields), JSON.stringify(fields)]) {
    const verdict = verdictOf(body)
    assert.ok('valid' in verdict && !verdict.valid, body)
    assert.match(verdict.reason, mismatches)
  }
}

test('any single character of data or signature changed, lost or added is refused', () => {
  const characters = fc.constantFrom('A', 'z', '0', '9', '+', '/', '=', '-', ' ', '%', '\n', 'é')
  const changes = fc
    .record({
      field: fc.constantFrom('data' as const, 'signature' as const),
      position: fc.nat(),
      removed: fc.nat(1),
      added: fc.oneof(characters, fc.constant('')),
    })
    .map(({ field, position, removed, added }) => {
      const text = sent[field]
      const at = position % (text.length + 1)
      return { field, text: text.slice(0, at) + added + text.slice(at + removed) }
    })
    .filter(({ field, text }) => text !== sent[field])
  fc.assert(
    fc.property(changes, ({ field, text }) => assertRefused({ ...sent, [field]: text })),
    { numRuns: 1000 },
  )
})

test('a signature of another text, or by another key, is refused', () => {
  const others = fc.string().filter((text) => text !== data)
  fc.assert(
    fc.property(others, fc.string({ minLength: 1 }), (text, key) => {
      assertRefused({ data, signature: sign(text) })
      assertRefused({ data: text, signature: sent.signature })
      if (key !== privateKey) assertRefused({ data, signature: sign(data, key) })
    }),
  )
})

test('no length extension of a signature is valid, though it extends the digest itself', () => {
  const signed = Buffer.from(`${privateKey}${data}${privateKey}`)
  const padding = paddingAfter(signed.length)
  const suffix = Buffer.from(base64('{"status":"success"}'))
  const digest = Buffer.from(sent.signature, 'base64')
  const forged = extend(digest, signed.length + padding.length, suffix)
  const whole = Buffer.concat([signed, padding, suffix])
  assert.deepEqual(forged, createHash('sha1').update(whole).digest(), 'the attack is a real one')
  const signature = forged.toString('base64')
  const extensions = [
    [padding, suffix],
    [Buffer.from(publicKey), padding, suffix],
    [suffix],
    // Even one who knew the key’s text as a part of data would lack it at the end.
    [Buffer.from(privateKey), padding, suffix],
  ]
  for (const parts of extensions) {
    const extended = Buffer.concat([Buffer.from(data), ...parts])
    for (const encoding of ['latin1', 'utf8'] as const) {
      assertRefused({ data: extended.toString(encoding), signature })
    }
    const bytes = Array.from(extended, (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
    const verdict = verdictOf(`data=${bytes}&${form({ signature })}`)
    assert.ok('valid' in verdict && !verdict.valid)
  }
})

/** What SHA-1 appends to a message of this length. */
function paddingAfter(length: number): Buffer {
  const padding = Buffer.alloc(((119 - (length % 64)) % 64) + 9)
  padding[0] = 0x80
  padding.writeBigUInt64BE(BigInt(length) * 8n, padding.length - 8)
  return padding
}

/** SHA-1 of a text of which only the digest and the length are known, and of a suffix to it. */
function extend(digest: Buffer, length: number, suffix: Buffer): Buffer {
  const blocks = Buffer.concat([suffix, paddingAfter(length + suffix.length)])
  let state = [0, 4, 8, 12, 16].map((at) => digest.readUInt32BE(at))
  for (let at = 0; at < blocks.length; at += 64)
    state = compress(state, blocks.subarray(at, at + 64))
  const extended = Buffer.alloc(20)
  for (const [index, word] of state.entries()) extended.writeUInt32BE(word, index * 4)
  return extended
}

function compress(state: readonly number[], block: Buffer): number[] {
  const rotate = (word: number, by: number) => ((word << by) | (word >>> (32 - by))) >>> 0
  const words = Array.from({ length: 16 }, (_, index) => block.readUInt32BE(index * 4))
  const word = (index: number) => words[index] ?? 0
  for (let t = 16; t < 80; t += 1) {
    words.push(rotate(word(t - 3) ^ word(t - 8) ^ word(t - 14) ^ word(t - 16), 1))
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0] = state
  for (let t = 0; t < 80; t += 1) {
    const majority = (b & c) | (b & d) | (c & d)
    const mixed = t < 20 ? (b & c) | (~b & d) : t >= 40 && t < 60 ? majority : b ^ c ^ d
    const constant = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6][Math.floor(t / 20)] ?? 0
    const next = (rotate(a, 5) + (mixed >>> 0) + e + constant + word(t)) >>> 0
    ;[a, b, c, d, e] = [next, a, rotate(b, 30), c, d]
  }
  return [a, b, c, d, e].map((value, index) => ((state[index] ?? 0) + value) >>> 0)
}

const values = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom('success', 'sandbox', 'reversed', 'subscribed', 'failure', 'wait_accept'),
  fc.constantFrom('pay', 'hold', 'regular', 'auth', 'subscribe', 'UAH', '10.00', 10.5, 3, 0, null),
)
const damaged = fc
  .dictionary(
    fc.constantFrom(...Object.keys(callback()), 'refund_amount', 'card_token', 'completion_date'),
    values,
  )
  .map((fields) => callback(fields))

test('whatever JSON is in data, interpreting it never throws and always says something', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        damaged.map((fields) => JSON.stringify(fields)),
      ),
      (text) => {
        const outcomes = interpretText(text)
        assert.ok(outcomes.length > 0)
        for (const outcome of outcomes) {
          const detail = 'detail' in outcome ? (outcome.detail ?? '') : ''
          assert.ok(detail.length <= 100)
        }
      },
    ),
    { numRuns: 2000 },
  )
})

test('only success, sandbox and what went back pay, and only for a known action', () => {
  const paying = new Set([
    'pay',
    'hold',
    'paysplit',
    'paydonate',
    'paytoken',
    'subscribe',
    'regular',
  ])
  fc.assert(
    fc.property(damaged, (fields) => {
      const { status, action } = fields
      const words = typeof status === 'string' ? status.trimEnd() : ''
      for (const outcome of interpretText(JSON.stringify(fields))) {
        if (outcome.type === 'ignored' || outcome.type === 'payment_method') continue
        assert.ok(typeof action === 'string' && paying.has(action))
        assert.equal(outcome.merchantAccount, fields['public_key'])
        if (outcome.type === 'refund') assert.ok(['success', 'sandbox', 'reversed'].includes(words))
        if (outcome.type !== 'payment' || outcome.status !== 'paid') continue
        assert.ok(['success', 'sandbox', 'reversed'].includes(words))
        assert.equal(outcome.live, words !== 'sandbox' && !isSandbox(fields['public_key']))
      }
    }),
    { numRuns: 2000 },
  )
})

function isSandbox(key: unknown): boolean {
  return typeof key === 'string' && key.startsWith('sandbox_')
}

test('fields that are told to nobody change nothing', () => {
  const free = fc.dictionary(
    fc.constantFrom('info', 'customer', 'ip', 'amount_credit', 'description', 'err_code', 'token'),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(free, (fields) => {
      assert.deepEqual(interpretText(JSON.stringify(callback(fields))), [paid])
    }),
  )
})
