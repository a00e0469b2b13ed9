import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Outcome } from '../../payments/outcome.ts'
import {
  interpret,
  interpretText,
  invoice,
  invoiceId,
  paid,
  paidBy,
  statedBy,
  paymentId,
} from '../../../test/gateways/monobank/invoices.ts'
import { interpretMonobank } from './interpret.ts'

const { amount: _, ...withoutAmount } = paid
const { currency: __, ...withoutCurrency } = paid

const ignored = (reason: string, detail: string) => [{ type: 'ignored', reason, detail }]

test('each status becomes its outcome, bound by the invoice', () => {
  assert.deepEqual(statedBy({ status: 'success' }), [paid])
  assert.deepEqual(statedBy({ status: 'failure', errCode: '59', failureReason: 'Недостатньо' }), [
    { ...paid, status: 'failed', declineCode: '59' },
  ])
  assert.deepEqual(statedBy({ status: 'expired' }), [{ ...paid, status: 'canceled' }])
  for (const status of ['created', 'processing', 'hold']) {
    assert.deepEqual(statedBy({ status }), ignored('no_outcome', status))
  }
})

test('any other status is unhandled_event, and none is guessed', () => {
  for (const status of ['SUCCESS', 'Success', ' success', 'success\n', 'paid', '', 'toString']) {
    const shown = status.replace('\n', '\ufffd')
    assert.deepEqual(statedBy({ status }), ignored('unhandled_event', shown))
  }
  assert.deepEqual(
    statedBy({ status: 'x'.repeat(10_240) }),
    ignored('unhandled_event', `${'x'.repeat(99)}…`),
  )
})

test('the invoice names the payment, and a reference only claims to', () => {
  const { claimed: _, ...byInvoice } = paid
  for (const reference of [undefined, null]) {
    assert.deepEqual(statedBy({ reference }), [byInvoice])
  }
  const other = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e02'
  assert.deepEqual(statedBy({ reference: other }), [
    { ...paid, claimed: { id: other, by: 'anybody' } },
  ])
})

test('a reference that is no UUID is invalid_reference', () => {
  const id = paymentId
  const texts = ['', 'order-7', `{${id}}`, ` ${id}`, id.replaceAll('-', '')]
  for (const reference of texts) {
    assert.deepEqual(statedBy({ reference }), ignored('invalid_reference', reference))
  }
  assert.deepEqual(statedBy({ reference: `${id}\n` }), ignored('invalid_reference', `${id}\ufffd`))
  for (const reference of [7, true, [id], { id }]) {
    assert.deepEqual(statedBy({ reference }), ignored('invalid_reference', 'not a text'))
  }
  const wallet = { status: 'created', cardToken: 'token' }
  for (const status of ['success', 'processing', 'reversed']) {
    const outcomes = statedBy({ status, reference: 'order-7', walletData: wallet })
    assert.deepEqual(outcomes, ignored('invalid_reference', 'order-7'))
  }
})

test('a status without a result is no_outcome whatever the reference', () => {
  assert.deepEqual(
    statedBy({ status: 'created', reference: 'order-7' }),
    ignored('no_outcome', 'created'),
  )
})

test('the amount of the invoice counts, not what is left of it or was tipped', () => {
  assert.deepEqual(statedBy({ finalAmount: 1 }), [paid])
  assert.deepEqual(statedBy({ finalAmount: 0, tipsInfo: { amount: 500 } }), [paid])
  assert.deepEqual(statedBy({ amount: undefined, finalAmount: 15075 }), [withoutAmount])
  assert.deepEqual(statedBy({ amount: 0 }), [{ ...paid, amount: 0n }])
})

test('an amount that is no plain whole number is left out, so that it settles nothing', () => {
  const lexemes = ['15075.0', '1.5075e4', '-15075', '-0', '1e400', '9007199254740992']
  const text = JSON.stringify(invoice())
  for (const lexeme of [...lexemes, '"15075"', 'null', '[15075]', '9'.repeat(30)]) {
    const changed = text.replace('"amount":15075', `"amount":${lexeme}`)
    assert.notEqual(changed, text)
    assert.deepEqual(interpretText(changed), [withoutAmount], lexeme)
  }
})

test('the currency is a number of ISO 4217, the zeros in front left out', () => {
  const known = { 980: 'UAH', 840: 'USD', 978: 'EUR', 392: 'JPY', 414: 'KWD', 8: 'ALL', 36: 'AUD' }
  for (const [ccy, currency] of Object.entries(known)) {
    assert.deepEqual(statedBy({ ccy: Number(ccy) }), [{ ...paid, currency }])
  }
  const text = JSON.stringify(invoice())
  const lexemes = ['980.0', '9.8e2', '-980', '0', '1', '000', '9800', '"980"', '"UAH"', 'null']
  for (const lexeme of [...lexemes, '[980]', 'true']) {
    const changed = text.replace('"ccy":980', `"ccy":${lexeme}`)
    assert.notEqual(changed, text)
    const [outcome] = interpretText(changed)
    const expected = lexeme === '000' ? ignored('unreadable_payload', 'invalid_json') : undefined
    assert.deepEqual([outcome], expected ?? [withoutCurrency], lexeme)
  }
  assert.deepEqual(statedBy({ ccy: undefined }), [withoutCurrency])
})

test('a body in another shape is malformed_payload, and the field is named', () => {
  for (const body of [null, true, 1, 'x', [], [invoice()]]) {
    assert.deepEqual(interpret(body), ignored('malformed_payload', 'body'))
  }
  const ids = [undefined, null, '', 7, 'a/b', 'a b', 'a\n', 'і', 'x'.repeat(101), ['a']]
  for (const id of ids) {
    assert.deepEqual(statedBy({ invoiceId: id }), ignored('malformed_payload', 'invoiceId'))
  }
  for (const status of [undefined, null, 7, true, ['success'], {}]) {
    assert.deepEqual(statedBy({ status }), ignored('malformed_payload', 'status'))
  }
  const longest = 'p2_-.'.padEnd(100, 'x')
  assert.deepEqual(statedBy({ invoiceId: longest }), [paidBy(longest)])
})

test('a body that cannot be read is unreadable_payload with the reason', () => {
  const cases = [
    ['', 'empty'],
    ['not json', 'invalid_json'],
    ['{"status":"failure","status":"success"}', 'duplicate_key'],
    [String.raw`{"status":"failure","st\u0061tus":"success"}`, 'duplicate_key'],
    ['['.repeat(1000), 'too_deep'],
  ] as const
  for (const [text, reason] of cases) {
    assert.deepEqual(interpretText(text), ignored('unreadable_payload', reason))
  }
  const form = { kind: 'form', text: '{}', value: new Map(), exact: false } as const
  assert.deepEqual(interpretMonobank(form), ignored('malformed_payload', 'body'))
})

const statuses = ['created', 'processing', 'hold', 'success', 'failure', 'reversed', 'expired']
const items = fc.record(
  {
    status: fc.constantFrom('success', 'processing', 'failure', 'new', 7),
    amount: fc.oneof(fc.integer(), fc.string()),
    ccy: fc.constantFrom(980, 840, 0, 'UAH'),
    createdDate: fc.constantFrom('2026-11-21T08:59:58Z', 'today', null),
    extRef: fc.oneof(fc.string(), fc.uuid(), fc.constant(null)),
    rrn: fc.constantFrom('1', '2', null),
  },
  { requiredKeys: ['status'] },
)
const bodies = fc.record(
  {
    invoiceId: fc.oneof(
      { weight: 6, arbitrary: fc.constant(invoiceId) },
      fc.string(),
      fc.integer(),
    ),
    status: fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...statuses) }, fc.string()),
    amount: fc.oneof(fc.integer(), fc.double(), fc.string()),
    ccy: fc.oneof(fc.constantFrom(980, 840), fc.integer(), fc.string()),
    reference: fc.oneof({ weight: 6, arbitrary: fc.uuid() }, fc.string(), fc.jsonValue()),
    cancelList: fc.oneof(fc.array(items), fc.jsonValue()),
    walletData: fc.oneof(
      fc.record({ status: fc.constantFrom('created', 'new'), cardToken: fc.string() }),
      fc.jsonValue(),
    ),
    paymentInfo: fc.jsonValue(),
  },
  { requiredKeys: ['invoiceId', 'status'] },
)

test('whatever comes ends in outcomes; a payment is bound, and paid by success, or by what went back', () => {
  let seen = 0
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), bodies), (body) => {
      const outcomes = interpret(body)
      assert.ok(outcomes.length > 0)
      const payments = outcomes.filter((outcome) => outcome.type === 'payment')
      for (const payment of payments) assertBound(payment, body as { invoiceId?: unknown })
      const paid = payments.filter(({ status }) => status === 'paid')
      const said = (body as { status?: unknown } | null)?.status
      assert.ok(paid.length <= (said === 'success' || said === 'reversed' ? 1 : 0))
      for (const one of paid) assert.equal(one.ifOpenedHere, said === 'reversed' || undefined)
      seen += payments.length
    }),
    { numRuns: 2000 },
  )
  assert.ok(seen > 50, `only ${seen} payments`)
})

function assertBound(
  outcome: Extract<Outcome, { type: 'payment' }>,
  body: { readonly invoiceId?: unknown },
): void {
  assert.deepEqual(outcome.payment, { checkoutReference: body.invoiceId })
  assert.equal(outcome.checkoutReference, body.invoiceId)
  assert.notEqual(outcome.claimed?.by, 'payer')
}
