import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  envelope,
  formOf,
  key,
  meaningOf,
  official,
  otherPaymentId,
  outcomesOf,
  paidOrder,
  requestOf,
  sha1Hex,
  signed,
  verdictOf,
  verdictOn,
  xmlOf,
} from '../../../test/gateways/hutko/callbacks.ts'
import { hutko } from './index.ts'
import { readEnvelope } from './payload.ts'

test('protocol 2.0 signs the text of data, whichever way it comes', () => {
  const callback = envelope(paidOrder)
  const bodies = [
    JSON.stringify(callback),
    JSON.stringify({ response: callback }),
    formOf(callback),
    xmlOf(callback),
  ]
  for (const body of bodies) {
    assert.equal(verdictOf(body), 'valid', body.slice(0, 60))
    assert.deepEqual(outcomesOf(body), meaningOf(), body.slice(0, 60))
  }
  // Everything beside data is unsigned, and nothing of it is read.
  const beside = JSON.stringify({ ...callback, order_id: otherPaymentId, order_status: 'declined' })
  assert.equal(verdictOf(beside), 'valid')
  assert.deepEqual(outcomesOf(beside), meaningOf())
})

test('protocol 2.0 takes nested parameters, and no data in another spelling', () => {
  const nested = envelope({ ...paidOrder, recurring_data: { every: 1, period: 'month' } })
  assert.equal(verdictOn(nested), 'valid')
  assert.deepEqual(outcomesOf(JSON.stringify(nested)), meaningOf())
  const { data } = envelope(paidOrder) as { data: string }
  for (const spelling of [
    `${data}\n`,
    data.replaceAll('=', ''),
    `${data}=`,
    ` ${data}`,
    [data],
    1,
  ]) {
    const signature = sha1Hex(`${key}|${String(spelling)}`)
    assert.equal(verdictOn({ version: '2.0', data: spelling, signature }), 'data_malformed')
  }
  assert.equal(
    verdictOn({ ...envelope(paidOrder), signature: official.genSignature(paidOrder, key) }),
    'signature_mismatch',
  )
  assert.equal(verdictOn({ ...envelope(paidOrder), data: 'e30=' }), 'signature_mismatch')
})

test('signed data that is no JSON is accepted, stored and ignored', () => {
  for (const [text, outcome] of [
    ['{', { type: 'ignored', reason: 'unreadable_payload', detail: 'invalid_json' }],
    ['[]', { type: 'ignored', reason: 'malformed_payload', detail: 'body' }],
    ['{"order":[]}', { type: 'ignored', reason: 'malformed_payload', detail: 'response_status' }],
  ] as const) {
    const data = Buffer.from(text).toString('base64')
    const body = JSON.stringify({ version: '2.0', data, signature: sha1Hex(`${key}|${data}`) })
    assert.equal(verdictOf(body), 'valid', text)
    assert.deepEqual(outcomesOf(body), [outcome], text)
  }
})

test('version 1.0.1, or a version without data, stays with the signature over all values', () => {
  for (const extra of [
    { version: '1.0.1' },
    { version: '2.0' },
    { version: '1.0', data: 'e30=' },
  ]) {
    assert.equal(verdictOn(signed({ ...paidOrder, ...extra })), 'valid', JSON.stringify(extra))
  }
})

test('the stored payload is the order itself, and the same from stored bytes', () => {
  const callback = envelope(paidOrder)
  const payload = hutko.parse(requestOf(JSON.stringify(callback)))
  assert.ok(payload.kind === 'json')
  assert.equal(payload.text, JSON.stringify({ order: paidOrder }))
  assert.equal(payload.exact, false)
  const flat = hutko.parse(requestOf(JSON.stringify(signed(paidOrder))))
  assert.ok(flat.kind === 'json')
  assert.equal(flat.exact, true)
  for (const data of ['"e30"', '"ew=="', '1', '["e30="]']) {
    const unread = hutko.parse(requestOf(`{"version":"2.0","data":${data}}`))
    assert.deepEqual(unread, { kind: 'unreadable', reason: 'invalid_json' }, data)
  }
})

test('the version tells what is signed, and only 2.0 with data is 2.0', () => {
  const versionOf = (body: string) => readEnvelope(requestOf(body)).version
  assert.equal(versionOf('{"version":"2.0","data":"e30="}'), '2.0')
  for (const body of ['{"version":"2.0"}', '{"version":"1.0","data":"e30="}', '{}', 'a=1']) {
    assert.equal(versionOf(body), '1.0', body)
  }
  assert.equal(versionOf('['), undefined)
})
