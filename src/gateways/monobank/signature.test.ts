import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { readCredentials } from '../credentials.ts'
import type { Verdict } from '../gateway.ts'
import {
  body,
  foreignKeys,
  malleated,
  publicKey,
  rawSignature,
  signature,
} from '../../../test/gateways/monobank/keys.ts'
import { monobank } from './index.ts'
import { isP256 } from './public-key.ts'
import { sampleKeys } from './samples/signing-key.ts'

const now = new Date('2026-11-20T12:00:00Z')

const credentialsOf = (key: string) =>
  readCredentials(monobank, { MONOBANK_PUBLIC_KEY: key }, { production: true })

const verdictOf = (header: string | undefined, bytes: string | Uint8Array = body) =>
  monobank.verify(
    { headers: header === undefined ? {} : { 'x-sign': header }, body: Buffer.from(bytes) },
    credentialsOf(publicKey),
    now,
  )
const valid: Verdict = { valid: true }
const refused = (reason: string): Verdict => ({ valid: false, reason })

test('a signature of OpenSSL over the raw bytes is valid, and so is its malleated twin', async () => {
  assert.deepEqual(await verdictOf(signature), valid)
  assert.deepEqual(await verdictOf(malleated), valid)
})

test('a header that is no canonical base64 of a DER signature never reaches a key', async () => {
  const url = signature.replaceAll('+', '-').replaceAll('/', '_')
  assert.notEqual(url, signature)
  const cases = [
    [undefined, 'signature_missing'],
    ['', 'signature_missing'],
    [' \t', 'signature_missing'],
    [`${signature}, ${signature}`, 'signature_too_long'],
    ['A'.repeat(97), 'signature_too_long'],
    ['A'.repeat(96), 'signature_not_der'],
    [url, 'signature_not_base64'],
    [malleated.slice(0, -1), 'signature_not_base64'],
    [` ${malleated.slice(0, 90)}`, 'signature_not_base64'],
    ['!!!not-base64!!!', 'signature_not_base64'],
    [rawSignature, 'signature_not_der'],
    ['true', 'signature_not_der'],
  ] as const
  for (const [header, reason] of cases) {
    assert.deepEqual(await verdictOf(header), refused(reason), String(header))
  }
})

/** DER by hand, so that every fault of it can be written down. */
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex').toString('base64')

test('DER in any other form than the shortest is refused', async () => {
  const faults = {
    'nothing in it': '30 00',
    'not even a length': '30',
    'one integer': '30 03 02 01 01',
    'another tag': '31 06 02 01 01 02 01 01',
    'a longer length': '30 07 02 01 01 02 01 01',
    'a shorter length': '30 05 02 01 01 02 01 01',
    'a trailing byte': '30 07 02 01 01 02 01 01 00',
    'a byte behind the sequence': '30 06 02 01 01 02 01 01 00',
    'a third integer': '30 09 02 01 01 02 01 01 02 01 01',
    'r of another kind': '30 06 03 01 01 02 01 01',
    's of another kind': '30 06 02 01 01 03 01 01',
    'r = 0': '30 06 02 01 00 02 01 01',
    's = 0': '30 06 02 01 01 02 01 00',
    'r = s = 0': '30 06 02 01 00 02 01 00',
    'r without bytes': '30 05 02 00 02 01 01',
    's without bytes': '30 05 02 01 01 02 00',
    'a negative r': '30 06 02 01 80 02 01 01',
    'a negative s': '30 06 02 01 01 02 01 ff',
    'a padded r': '30 07 02 02 00 7f 02 01 01',
    'a padded s': '30 07 02 01 01 02 02 00 7f',
    'r longer than all': '30 06 02 7f 01 02 01 01',
    's longer than all': '30 06 02 01 01 02 02 01',
    'a length in the long form': '30 81 06 02 01 01 02 01 01',
  }
  for (const [fault, text] of Object.entries(faults)) {
    assert.deepEqual(await verdictOf(hex(text)), refused('signature_not_der'), fault)
  }
})

test('DER in the right form with other numbers is a mismatch', async () => {
  const order = 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551'
  const signatures = {
    'r = s = 1': '30 06 02 01 01 02 01 01',
    'a needed zero in front': '30 08 02 02 00 80 02 02 00 ff',
    'the largest of one byte': '30 06 02 01 7f 02 01 7f',
    'r and s are the order': `30 46 02 21 00 ${order} 02 21 00 ${order}`,
  }
  for (const [which, text] of Object.entries(signatures)) {
    assert.deepEqual(await verdictOf(hex(text)), refused('signature_mismatch'), which)
  }
})

test('any changed, lost or added byte of the body is refused', async () => {
  const bytes = Buffer.from(body)
  const changes = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }))
  await fc.assert(
    fc.asyncProperty(changes, async ([at, difference]) => {
      const changed = Uint8Array.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ difference
      assert.deepEqual(await verdictOf(signature, changed), refused('signature_mismatch'))
    }),
  )
  for (const other of [`${body}\n`, ` ${body}`, body.slice(0, -1), '', `\ufeff${body}`]) {
    assert.deepEqual(await verdictOf(signature, other), refused('signature_mismatch'))
  }
})

test('the body is checked as it came, not as JSON says it again', async () => {
  const spaced = JSON.stringify(JSON.parse(body), null, 1)
  assert.deepEqual(await verdictOf(signature, spaced), refused('signature_mismatch'))
})

test('any changed byte of the signature is refused', async () => {
  const bytes = Buffer.from(signature, 'base64')
  for (let at = 0; at < bytes.length; at += 1) {
    for (const difference of [1, 0x80]) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ difference
      const verdict = await verdictOf(changed.toString('base64'))
      assert.ok('valid' in verdict && !verdict.valid, `byte ${at}`)
    }
  }
})

test('any of several configured keys may fit, as base64 or as a PEM in any line form', async () => {
  const pem = Buffer.from(publicKey, 'base64').toString()
  const other = sampleKeys('another').publicKey
  const request = { headers: { 'x-sign': signature }, body: Buffer.from(body) }
  const settings = [
    `${other},${publicKey}`,
    `${publicKey} , ${other}`,
    pem,
    pem.trim(),
    pem.replaceAll('\n', '\r\n'),
    pem.trim().replaceAll('\n', String.raw`\n`),
    `${other},${pem}`,
  ]
  for (const setting of settings) {
    assert.deepEqual(await monobank.verify(request, credentialsOf(setting), now), valid, setting)
  }
  const mismatch = refused('signature_mismatch')
  assert.deepEqual(await monobank.verify(request, credentialsOf(other), now), mismatch)
})

test('only EC P-256 public keys can be configured', () => {
  const pem = Buffer.from(publicKey, 'base64').toString()
  const der = pem.replaceAll(/-----[A-Z ]+-----|\s/g, '')
  const privatePem = Buffer.from(sampleKeys('x').signingKey, 'base64').toString()
  const faults = [
    ...Object.values(foreignKeys),
    'key',
    der,
    `${publicKey},`,
    `,${publicKey}`,
    `${publicKey},key`,
    `${publicKey}${publicKey}`,
    publicKey.replace(/=+$/, ''),
    JSON.stringify({ key: publicKey }),
    sampleKeys('x').signingKey,
    privatePem,
    `${pem}${pem}`,
    `${pem}${privatePem}`,
    `x${pem}`,
    pem.replace('MFkw', 'MFkx'),
    pem.replaceAll('PUBLIC KEY', 'CERTIFICATE'),
    pem.replaceAll('PUBLIC KEY', 'EC PUBLIC KEY'),
  ]
  for (const fault of faults) {
    assert.throws(() => credentialsOf(fault), { code: 'setting_invalid' }, fault)
  }
})

test('a key of no curve at all is none of P-256', () => {
  assert.equal(isP256(createSecretKey(Buffer.from('shared'))), false)
})

test('without a key and without a token nothing is valid', async () => {
  const request = { headers: { 'x-sign': signature }, body: Buffer.from(body) }
  const none = readCredentials(monobank, {}, { production: true })
  assert.equal(none.configured, false)
  assert.deepEqual(await monobank.verify(request, none, now), refused('not_configured'))
  const broken = { secrets: {}, settings: { public_key: 'x' }, configured: true }
  assert.deepEqual(await monobank.verify(request, broken, now), refused('not_configured'))
})

test('a token or a public key is enough to be configured, and the bank is at its own address', () => {
  assert.equal(monobank.credentials.api_base?.default, 'https://api.monobank.ua')
  const configured = (values: Record<string, string>) =>
    readCredentials(monobank, values, { production: true }).configured
  assert.equal(configured({ MONOBANK_TOKEN: 'token' }), true)
  assert.equal(configured({ MONOBANK_PUBLIC_KEY: publicKey }), true)
  assert.equal(configured({ MONOBANK_SIGNING_KEY: sampleKeys('x').signingKey }), false)
})
