import assert from 'node:assert/strict'
import { createHash, createHmac, createPrivateKey, sign as signBytes } from 'node:crypto'
import { builtin } from '../../src/gateways/builtin.ts'
import { readCredentials } from '../../src/gateways/credentials.ts'
import type { Gateway, SignInput } from '../../src/gateways/gateway.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { testCredentials } from '../../src/testing/test-credentials.ts'

// Callbacks of all gateways, signed here with node:crypto alone: whatever these tests send was
// signed by nothing that they test.

export interface Callback {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export function gatewayOf(name: string): Gateway {
  const found = builtin.find((gateway) => gateway.name === name)
  assert.ok(found, name)
  return found
}

/** Settings of every gateway, as this owner has them. */
export function settingsOf(owner = 'test'): Record<string, Readonly<Record<string, string>>> {
  return Object.fromEntries(
    builtin.map((gateway) => [gateway.name, testCredentials(gateway, owner)]),
  )
}

/** The field that callbacks are signed with, by gateway. */
export const keyField: Readonly<Record<string, string>> = {
  stripe: 'signing_secret',
  paddle: 'signing_secret',
  liqpay: 'private_key',
  wayforpay: 'secret_key',
  hutko: 'secret_key',
  monobank: 'signing_key',
}

export function keyOf(name: string, owner = 'test'): string {
  return testCredentials(gatewayOf(name), owner)[keyField[name] ?? ''] ?? ''
}

/** What a gateway's signature vouches for, and where it stands. */
interface Wire {
  /** The JSON text within a callback. */
  textOf(callback: Callback): string
  /** The JSON text as a callback that is rightly signed with this key. */
  sign(text: string, key: string): Callback
  signatureIn(callback: Callback): string
  /** The same callback with another text, or none, where the signature stands. */
  withSignature(callback: Callback, signature: string | undefined): Callback
}

const json = { 'content-type': 'application/json' }
const nowSeconds = () => Math.floor(Date.now() / 1000)
const sha1 = (...parts: readonly string[]) => createHash('sha1').update(parts.join(''))
const hmac = (algorithm: string, key: string, text: string) =>
  createHmac(algorithm, key).update(text).digest('hex')

/** Members of a flat object; numbers as they are written. */
function textsOf(text: string): Record<string, unknown> {
  const lexeme = (_: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? context?.source : value
  return JSON.parse(text, lexeme) as Record<string, unknown>
}

/** `t=1,v1=..` of Stripe, `ts=1;h1=..` of Paddle. */
function timedHeader(header: string, parts: readonly [string, string, string, string]): Wire {
  const [time, scheme, separator, joint] = parts
  const signature = new RegExp(`${separator}${scheme}=(.*)$`)
  return {
    textOf: ({ body }) => body,
    sign: (body, key) => {
      const at = nowSeconds()
      const value = `${time}=${at}${separator}${scheme}=${hmac('sha256', key, `${at}${joint}${body}`)}`
      return { headers: { ...json, [header]: value }, body }
    },
    signatureIn: ({ headers }) => signature.exec(headers[header] ?? '')?.[1] ?? '',
    withSignature: ({ headers, body }, text) => {
      const changed = text === undefined ? '' : `${separator}${scheme}=${text}`
      return {
        headers: {
          ...headers,
          [header]: (headers[header] ?? '').replace(signature, () => changed),
        },
        body,
      }
    },
  }
}

/** A field of the JSON body. */
function signedField(field: string, digest: (text: string, key: string) => string): Wire {
  const member = new RegExp(`"${field}":"([^"]*)",?`)
  return {
    textOf: ({ body }) => body.replace(member, '').replace(/,\}$/, '}'),
    sign: (text, key) => ({
      headers: json,
      body: text.replace('{', () => `{"${field}":"${digest(text, key)}",`),
    }),
    signatureIn: ({ body }) => member.exec(body)?.[1] ?? '',
    withSignature: ({ headers, body }, text) => ({
      headers,
      body: body.replace(member, () =>
        text === undefined ? '' : `"${field}":${JSON.stringify(text)},`,
      ),
    }),
  }
}

/** As a careless language would write it where a text is wanted. */
function plain(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const wayforpayFields = [
  'merchantAccount',
  'orderReference',
  'amount',
  'currency',
  'authCode',
  'cardPan',
  'transactionStatus',
  'reasonCode',
]

function wayforpayDigest(text: string, key: string): string {
  const texts = textsOf(text)
  return hmac('md5', key, wayforpayFields.map((name) => plain(texts[name])).join(';'))
}

function hutkoDigest(text: string, key: string): string {
  const values = Object.entries(textsOf(text))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, value]) => plain(value))
    .filter((value) => value !== '')
  return sha1([key, ...values].join('|')).digest('hex')
}

const liqpay: Wire = {
  textOf: ({ body }) =>
    Buffer.from(new URLSearchParams(body).get('data') ?? '', 'base64').toString(),
  sign: (text, key) => {
    const data = Buffer.from(text).toString('base64')
    const signature = sha1(key, data, key).digest('base64')
    return {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ data, signature }).toString(),
    }
  },
  signatureIn: ({ body }) => new URLSearchParams(body).get('signature') ?? '',
  withSignature: ({ headers, body }, text) => {
    const fields = new URLSearchParams(body)
    if (text === undefined) fields.delete('signature')
    else fields.set('signature', text)
    return { headers, body: fields.toString() }
  },
}

const monobank: Wire = {
  textOf: ({ body }) => body,
  sign: (body, key) => ({ headers: { ...json, 'x-sign': ecdsa(body, key) }, body }),
  signatureIn: ({ headers }) => headers['x-sign'] ?? '',
  withSignature: ({ headers, body }, text) => ({
    headers: text === undefined ? json : { ...headers, 'x-sign': text },
    body,
  }),
}

/** A key that is none signs as a secret would: whoever takes a key's text for one is found out. */
function ecdsa(body: string, key: string): string {
  const pem = key.includes('BEGIN') ? key : Buffer.from(key, 'base64').toString()
  if (!pem.includes('BEGIN')) return createHmac('sha256', key).update(body).digest('base64')
  return signBytes('sha256', Buffer.from(body), createPrivateKey(pem)).toString('base64')
}

const wires: Readonly<Record<string, Wire>> = {
  stripe: timedHeader('stripe-signature', ['t', 'v1', ',', '.']),
  paddle: timedHeader('paddle-signature', ['ts', 'h1', ';', ':']),
  liqpay,
  wayforpay: signedField('merchantSignature', wayforpayDigest),
  hutko: signedField('signature', hutkoDigest),
  monobank,
}

/** The gateways whose callbacks are signed here. */
export const signing: readonly Gateway[] = builtin.filter(({ name }) => Object.hasOwn(wires, name))

export function wireOf(name: string): Wire {
  const wire = wires[name]
  assert.ok(wire, name)
  return wire
}

/** What a callback states otherwise than its payment is: JSON by field, undefined to leave it out. */
export type Changes = Readonly<Record<string, string | undefined>>

export interface Statement {
  readonly scenario?: string
  readonly changes?: Changes
  /** Whose key signs it. */
  readonly owner?: string
}

/** A callback about the payment as its provider words it, with these fields written otherwise. */
export function callbackAbout(payment: Payment, statement: Statement = {}): Callback {
  const { gateway } = payment
  const text = written(textAbout(payment, statement.scenario), statement.changes ?? {})
  return wireOf(gateway).sign(text, keyOf(gateway, statement.owner))
}

// All callbacks tell of one moment, so that two texts about a payment are the same.
const startedAt = new Date()

/** The JSON of a callback about the payment; the first scenario, paid, by default. */
export function textAbout(payment: Payment, scenario?: string): string {
  const gateway = gatewayOf(payment.gateway)
  const { signer } = gateway
  assert.ok(signer)
  const input: SignInput = {
    scenario: scenario ?? Object.keys(signer.scenarios)[0] ?? '',
    credentials: readCredentials(
      gateway,
      {},
      { production: false, config: settingsOf()[gateway.name] ?? {} },
    ),
    now: startedAt,
    newId: newUuid,
    payment,
  }
  return wireOf(gateway.name).textOf(signer.sign(input))
}

/** The text with each of these members, wherever it stands, written so. */
export function written(text: string, changes: Changes): string {
  return Object.entries(changes).reduce((changed, [field, lexeme]) => {
    const member = new RegExp(`"${field}":\\s*(?:"(?:[^"\\\\]|\\\\.)*"|[^,\\s"{}[\\]]+)(,?)`, 'g')
    assert.match(changed, member, field)
    const put = (_: string, comma: string) =>
      lexeme === undefined ? '' : `"${field}":${lexeme}${comma}`
    return changed.replaceAll(member, put).replaceAll(/,(\s*\})/g, '$1')
  }, text)
}
