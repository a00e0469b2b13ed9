import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Payment } from '../../src/payments/payment.ts'
import {
  callbackAbout,
  keyOf,
  textAbout,
  wireOf,
  type Callback,
  type Changes,
} from './callbacks.ts'
import {
  casesOf,
  declareCases,
  ignoredAs,
  refused,
  settles,
  type Case,
  type Cases,
  type Result,
  type Sent,
  type Service,
} from './callback-service.ts'

// What is rightly signed and says something that must not be applied: answered 200, stored with
// its reason, no payment moved. Money: bad-money.ts; Stripe: stripe-content.test.ts.

const reference: Readonly<Record<string, string>> = {
  paddle: 'payment_id',
  monobank: 'reference',
  liqpay: 'order_id',
  wayforpay: 'orderReference',
  hutko: 'order_id',
}
const status: Readonly<Record<string, string>> = {
  paddle: 'status',
  monobank: 'status',
  liqpay: 'status',
  wayforpay: 'transactionStatus',
  hutko: 'order_status',
}
const others = Object.keys(reference)

const says = (changes: Changes) => (payment: Payment) => callbackAbout(payment, { changes })

/** The same UUID. */
const inCapitals = 'a UUID in capitals'

const references: Readonly<Record<string, (id: string) => string>> = {
  'no UUID': () => 'order-42',
  'a UUID in braces': (id) => `{${id}}`,
  'a UUID as a URN': (id) => `urn:uuid:${id}`,
  [inCapitals]: (id) => id.toUpperCase(),
  'a UUID without hyphens': (id) => id.replaceAll('-', ''),
  'a blank before a UUID': (id) => ` ${id}`,
  'a blank behind a UUID': (id) => `${id} `,
  'a colon and more behind a UUID': (id) => `${id}:paid`,
  'a UUID twice': (id) => `${id},${id}`,
  'a wildcard': () => '%',
}

/** Nothing outside of plain text is signed by hutko: such values are refused before. */
const lined: typeof references = {
  'a line end behind a UUID': (id) => `${id}\n`,
  'a line before a UUID': (id) => `order\n${id}`,
  'a zero byte behind a UUID': (id) => `${id}\0`,
}

function expectedOf(name: string, what: string): Result {
  if (what === inCapitals) return settles
  return name === 'hutko' && what in lined ? refused : ignoredAs('invalid_reference')
}

function referenceCases(name: string): Cases {
  return Object.fromEntries(
    Object.entries({ ...references, ...lined }).map(([what, make]): [string, Case] => [
      what,
      {
        expected: expectedOf(name, what),
        make: (payment) =>
          says({ [reference[name] ?? '']: JSON.stringify(make(payment.id)) })(payment),
      },
    ]),
  )
}

const nearlyPaid = ['PAID', 'Success', 'SUCCESS', 'approved ', 'APPROVED', 'succeeded', 'ok', '1']
const noStatuses = ['true', '1', 'null', '[]', '{}', '""', undefined]
const long = 'x'.repeat(10_240)

/** Says that none of these statuses is paid; of the last one, which is long, little is kept. */
function declareStatuses(service: () => Service, name: string): void {
  const words = nearlyPaid.filter((one) => name !== 'liqpay' || one.trim() === one)
  const lexemes = [...words.map((word) => JSON.stringify(word)), ...noStatuses, `"${long}"`]

  test(`${name}: none of ${lexemes.length} statuses is paid, and of a long one little is kept`, async () => {
    const sent: Sent[] = []
    for (const lexeme of lexemes) {
      sent.push({
        payment: await service().pay(name),
        make: says({ [status[name] ?? '']: lexeme }),
      })
    }
    const results = await service().sendAll(sent)
    for (const [at, result] of results.entries()) {
      // LiqPay's without a status is our own form, which its payer holds: he must not fill reviews.
      assertUndecided(result, name, {
        what: String(lexemes[at]).slice(0, 20),
        review: name !== 'liqpay' || lexemes[at] !== undefined,
      })
    }
    assert.equal(results.at(-1)?.status, 200)
    const [call] = (await service().core.calls.list({ limit: 1 })).data
    assert.ok(JSON.stringify(call?.outcome).length < 1_000)
    assert.ok(!JSON.stringify(service().logged).includes(long))
  })
}

/** A person looks: one of the two is wrong. */
const contradictions = casesOf(ignoredAs('no_outcome', true), {
  'a code of success with a refusal': says({
    transactionStatus: '"Declined"',
    reasonCode: '1100',
  }),
  'a code of refusal with an approval': says({
    transactionStatus: '"Approved"',
    reasonCode: '1101',
  }),
  'another code with an approval': says({
    transactionStatus: '"Approved"',
    reasonCode: '"1100.0"',
  }),
})

const onlyHeld: Readonly<Record<string, readonly string[]>> = {
  monobank: ['hold', 'pending'],
  hutko: ['held'],
  wayforpay: ['held'],
  liqpay: ['pending'],
  paddle: ['pending'],
}

interface Undecided {
  readonly what: string
  readonly review?: boolean
}

/**
 * Stored with a reason, and for a person to look at; where the signature itself pins the status,
 * refused is as good.
 */
function assertUndecided(result: Result, name: string, { what, review = true }: Undecided): void {
  const reasons = ['unhandled_event', 'no_outcome', 'malformed_payload']
  const pinned = name === 'wayforpay' || name === 'hutko'
  const [reason = ''] = result.outcome ?? []
  const expected = pinned && result.status === 403 ? refused : ignoredAs(reason, review)
  assert.deepEqual(result, expected, what)
  assert.ok(result.status === 403 || reasons.includes(reason), what)
}

/** Members of a Paddle notification written anew, as its own signature allows. */
const paddleEvent = (fields: object) => (payment: Payment) => {
  const event = { ...(JSON.parse(textAbout(payment)) as object), ...fields }
  return wireOf('paddle').sign(JSON.stringify(event), keyOf('paddle'))
}

function declarePaddleEvents(service: () => Service): void {
  const lacking = [undefined, null, [], 'x', 1, {}, { id: 'txn_1' }, { id: ['txn_01a'] }]
  test(`paddle: an event with ${lacking.length} kinds of data that is none is Ignored`, async () => {
    const sent: Sent[] = []
    for (const data of lacking) {
      sent.push({ payment: await service().pay('paddle'), make: paddleEvent({ data }) })
    }
    for (const [at, result] of (await service().sendAll(sent)).entries()) {
      const what = JSON.stringify({ data: lacking[at] })
      // A transaction that is not stored, and that names no payment, need not be about us.
      assertUndecided(result, 'paddle', { what, review: what !== '{"data":{"id":"txn_1"}}' })
    }
  })

  const types = ['transaction.invented', 'TRANSACTION.PAID', '__proto__', 'toString']
  declareCases(
    service,
    ['paddle', 'event types that nobody knows'],
    casesOf(
      ignoredAs('unhandled_event'),
      Object.fromEntries(
        types.map((event_type) => [`${event_type}!`, paddleEvent({ event_type })]),
      ),
    ),
  )
}

/** Declares the tests, on a service that others share. */
export function declareBadContent(service: () => Service): void {
  for (const name of others) {
    describe(`bad inputs, J: references and statuses at ${name}`, () => {
      declareCases(
        service,
        [name, 'references that are no id of ours, or another spelling of one'],
        referenceCases(name),
      )
      declareStatuses(service, name)
      const held = onlyHeld[name] ?? []
      declareCases(
        service,
        [name, `money that is only ${held.join(', ')}`],
        casesOf(
          ignoredAs('no_outcome'),
          Object.fromEntries(
            held.map((scenario) => [
              scenario,
              (payment: Payment): Callback => callbackAbout(payment, { scenario }),
            ]),
          ),
        ),
      )
    })
  }
  declareCases(service, ['wayforpay', 'a status and a code that differ'], contradictions)
  describe('bad inputs, E: what a signed Paddle event may lack', () => {
    declarePaddleEvents(service)
  })
}
