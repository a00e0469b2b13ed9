import { createHash } from 'node:crypto'
import { describe } from 'node:test'
import type { Payment } from '../../src/payments/payment.ts'
import {
  callbackAbout,
  keyOf,
  textAbout,
  wireOf,
  written,
  type Callback,
  type Changes,
} from './callbacks.ts'
import {
  casesOf,
  declareCases,
  ignoredAs,
  refused,
  settles,
  type Cases,
  type Service,
  type Table,
} from './callback-service.ts'

// What can be bent of a callback whose fields are signed, against the whole service; beside the
// refusals the nearest form that is right.

const refuses = (table: Table) => casesOf(refused, table)
const takes = (table: Table) => casesOf(settles, table)

const sha1 = (text: string, form: 'hex' | 'base64') => createHash('sha1').update(text).digest(form)
const inForm = { 'content-type': 'application/x-www-form-urlencoded' }
const dataOf = (payment: Payment) => Buffer.from(textAbout(payment)).toString('base64')
const liqpayKey = keyOf('liqpay')

/** `data` as it is sent, `signed` as it is signed. */
function liqpayForm(data: string, signed: string, more = ''): Callback {
  const signature = sha1(liqpayKey + signed + liqpayKey, 'base64')
  const body = `data=${encodeURIComponent(data)}&signature=${encodeURIComponent(signature)}${more}`
  return { headers: inForm, body }
}
const respelt = (respell: (data: string) => string) => (payment: Payment) =>
  liqpayForm(respell(dataOf(payment)), dataOf(payment))

const liqpayCases: Cases = {
  ...refuses({
    'our own public key, and a wrong signature': (payment) => {
      const { headers, body } = callbackAbout(payment, { owner: 'stranger' })
      return { headers, body: `${body}&public_key=${payment.merchantAccount}` }
    },
    'a signature over the JSON instead of data': (payment) =>
      liqpayForm(dataOf(payment), textAbout(payment)),
    'a signature with the key on one side': (payment) => {
      const signature = sha1(liqpayKey + dataOf(payment), 'base64')
      return wireOf('liqpay').withSignature(callbackAbout(payment), signature)
    },
    'data with a line end behind it': respelt((data) => `${data}\n`),
    'data with a blank in it': respelt((data) => `${data.slice(0, 40)} ${data.slice(40)}`),
    'data without its padding, or with more': respelt((data) =>
      data.endsWith('=') ? data.replace(/=+$/, '') : `${data}=`,
    ),
    'data twice': (payment) =>
      liqpayForm(dataOf(payment), dataOf(payment), `&data=${encodeURIComponent(dataOf(payment))}`),
    'data[] beside data': (payment) => liqpayForm(dataOf(payment), dataOf(payment), '&data[]=x'),
    'no data': (payment) => ({
      headers: inForm,
      body: liqpayForm('', dataOf(payment)).body.replace('data=&', ''),
    }),
    'empty data, rightly signed': () => liqpayForm('', ''),
    'the form as a query behind the body': (payment) => ({
      headers: inForm,
      body: `?${callbackAbout(payment).body}`,
    }),
  }),
  ...takes({
    'the form': callbackAbout,
    'the form called JSON': (payment) => ({
      headers: { 'content-type': 'application/json' },
      body: callbackAbout(payment).body,
    }),
    'JSON called a form': (payment) => ({ headers: inForm, body: asJson(callbackAbout(payment)) }),
    'JSON behind a byte order mark': (payment) => ({
      headers: inForm,
      body: `\ufeff${asJson(callbackAbout(payment))}`,
    }),
  }),
}

function asJson({ body }: Callback): string {
  return JSON.stringify(Object.fromEntries(new URLSearchParams(body)))
}

/** A body with the signature of another one. */
function signedAs(name: string, text: string, signed: string): Callback {
  const wire = wireOf(name)
  return wire.withSignature(
    wire.sign(text, keyOf(name)),
    wire.signatureIn(wire.sign(signed, keyOf(name))),
  )
}
const changed = (changes: Changes) => (payment: Payment) => callbackAbout(payment, { changes })
const underSameSignature = (name: string, changes: Changes) => (payment: Payment) =>
  signedAs(name, written(textAbout(payment), changes), textAbout(payment))
const each = (names: readonly string[], make: (name: string) => Table[string]): Table =>
  Object.fromEntries(names.map((name) => [name, make(name)]))
const titled = (title: string, table: Table): Table =>
  Object.fromEntries(Object.entries(table).map(([name, make]) => [`${title}: ${name}`, make]))

const paysNothing = (reason: string, table: Table) => casesOf(ignoredAs(reason, true), table)
const texts = ['orderReference', 'currency', 'authCode', 'cardPan', 'transactionStatus']
const signedFields = ['merchantAccount', 'amount', 'reasonCode', ...texts]

const mustBeThere = ['merchantAccount', 'orderReference', 'transactionStatus']
/** How WayForPay may say that there is none: it signs each of them as an empty item. */
const asEmpty: readonly (readonly [what: string, lexeme: string | undefined])[] = [
  ['null', 'null'],
  ['empty', '""'],
  ['missing', undefined],
]

/** Signed, and of a kind that no field has. */
const ofOtherKinds = ['true', '[]', '{}', '["Approved"]', '{"a":1}'].map((lexeme) =>
  refuses(
    titled(
      `signed, and ${lexeme}`,
      each(signedFields, (name) => changed({ [name]: lexeme })),
    ),
  ),
)

const withoutAny = asEmpty.map(([what, lexeme]): Cases => {
  const made = (names: readonly string[]) =>
    titled(
      `signed as empty, and ${what}`,
      each(names, (name) => changed({ [name]: lexeme })),
    )
  return {
    ...refuses(made(mustBeThere)),
    ...takes(made(['authCode', 'cardPan'])),
    ...paysNothing('amount_mismatch', made(['amount', 'currency'])),
    ...paysNothing('no_outcome', made(['reasonCode'])),
  }
})

const wayforpayCases: Cases = {
  ...refuses(
    titled(
      'signed, with a semicolon',
      each(texts, (name) => changed({ [name]: '"a;b"' })),
    ),
  ),
  ...refuses({
    'a card number moved to the bank code, the signed text the same': underSameSignature(
      'wayforpay',
      { authCode: '"602318;44****4441"', cardPan: undefined },
    ),
    'an amount of other spelling under the same signature': underSameSignature('wayforpay', {
      amount: '150.750',
    }),
    'an amount with an exponent under the same signature': underSameSignature('wayforpay', {
      amount: '1.5075e2',
    }),
    'another merchant account, signed with our secret': changed({
      merchantAccount: '"another_shop"',
    }),
  }),
  ...takes({
    'the amount as a text of the same digits': underSameSignature('wayforpay', {
      amount: '"150.75"',
    }),
    'the amount with a zero at the end': changed({ amount: '150.750' }),
    'no bank code and no card': changed({ authCode: 'null', cardPan: '""' }),
  }),
}

/** A flat callback with more members, signed over everything that counts or over less. */
const withMore = (members: string) => (payment: Payment) =>
  textAbout(payment).replace('{', () => `{${members},`)
const hutkoSigned = (make: (payment: Payment) => string) => (payment: Payment) =>
  wireOf('hutko').sign(make(payment), keyOf('hutko'))
const unsigned = (members: string) => (payment: Payment) =>
  signedAs('hutko', withMore(members)(payment), textAbout(payment))

const hutkoCases: Cases = {
  ...refuses({
    'two values merged under the same signature': underSameSignature('hutko', {
      actual_amount: undefined,
      actual_currency: '"15075|UAH"',
    }),
    'the amount under another name': (payment) =>
      signedAs('hutko', textAbout(payment).replace('"amount"', '"amounz"'), textAbout(payment)),
    'an unknown member that is not signed': unsigned('"zz":"1"'),
    'a signature over itself': (payment) =>
      signedAs('hutko', textAbout(payment), withMore('"signature":"0"')(payment)),
    'the signed string that comes along in test mode, signed as well': hutkoSigned((payment) =>
      withMore('"response_signature_string":"a|b"')(payment),
    ),
    'a name outside of ASCII': hutkoSigned(withMore('"назва":"1"')),
    'a value that is false': hutkoSigned(withMore('"zz":false')),
    'a value that is a list': hutkoSigned(withMore('"zz":["1"]')),
    'a zero that is not signed': unsigned('"zz":0'),
    'a separator in a value that is read': hutkoSigned(withMore('"rectoken":"1|2"')),
  }),
  ...takes({
    'a separator in an unknown value': hutkoSigned(withMore('"zz":"1|2"')),
    'a line end in a free text': hutkoSigned(withMore('"order_desc":"two\\nlines | one bar"')),
    'an unknown member that is signed': hutkoSigned(withMore('"zz":"1"')),
    'a name in capitals, sorted before all others': hutkoSigned(withMore('"ZZ":"1"')),
    'empty and null members that are not signed': unsigned('"zy":"","zz":null'),
    'a zero that is signed': hutkoSigned(withMore('"zz":0')),
    'the signed string beside what is signed': unsigned('"response_signature_string":"a|b"'),
    'the merchant as a text': (payment) =>
      changed({ merchant_id: `"${payment.merchantAccount}"` })(payment),
  }),
}

function joined(parts: readonly Cases[]): Cases {
  return Object.fromEntries(parts.flatMap((cases) => Object.entries(cases)))
}

/** Declares the tests, on a service that others share. */
export function declareBadFields(service: () => Service): void {
  const declare = (name: string, title: string, cases: Cases) =>
    declareCases(service, [name, title], cases)

  describe('bad inputs, F, G, H: signed fields', () => {
    declare('liqpay', 'the form and its JSON', liqpayCases)
    declare('wayforpay', 'fields of other kinds', joined(ofOtherKinds))
    declare('wayforpay', 'fields that are not there', joined(withoutAny))
    declare('wayforpay', 'what the signature joins', wayforpayCases)
    declare('hutko', 'what the signature joins', hutkoCases)
  })
}
