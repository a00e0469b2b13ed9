import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { unmarked } from '../../../test/support/unmarked.ts'
import type { Outcome } from '../../payments/outcome.ts'
import {
  account,
  contextOf,
  formOf,
  jsonOf,
  paymentId,
  renewalReference,
  requestOf,
  signedFields,
  without,
  type RawFields,
} from '../../../test/gateways/wayforpay/callbacks.ts'
import { wayforpay } from './index.ts'
import { signedFieldNames } from './payload.ts'

// No look-up here: the API base of this context is a port where nobody listens.
const meaningOf = async (text: string) =>
  unmarked(await wayforpay.interpret(wayforpay.parse(requestOf(text)), contextOf()))
const outcomesOf = (changes: RawFields) => meaningOf(jsonOf(signedFields(changes)))

const binding = { merchantAccount: account, live: true }
const money = { amount: 15_075n, currency: 'UAH' }
const payment = (status: string, more: object = {}) => [
  { type: 'payment', payment: { id: paymentId }, status, ...money, ...binding, ...more },
]
const ignored = (reason: string, detail: string) => [{ type: 'ignored', reason, detail }]

test('an approved order is paid, as JSON and as a form, and names no provider reference', async () => {
  assert.deepEqual(await outcomesOf({}), payment('paid'))
  assert.deepEqual(await meaningOf(formOf(signedFields())), payment('paid'))
})

test('that an order is approved may be old news, for its payer has it too: a person looks where it was canceled', async () => {
  const body = jsonOf(signedFields({}))
  const [paid] = await wayforpay.interpret(wayforpay.parse(requestOf(body)), contextOf())
  assert.ok(paid?.type === 'payment')
  assert.equal(paid.ifCanceled, 'review')
})

test('every status means what the protocol says', async () => {
  const cases: readonly (readonly [status: string, reasonCode: string, unknown])[] = [
    ['Approved', '1100', payment('paid')],
    ['Approved', '"1100"', payment('paid')],
    ['Approved', '1101', ignored('no_outcome', 'Approved 1101')],
    ['Approved', '4100', ignored('no_outcome', 'Approved 4100')],
    ['Approved', '1100.0', ignored('no_outcome', 'Approved 1100.0')],
    ['Declined', '1101', payment('failed', { declineCode: '1101' })],
    ['Declined', '1104', payment('failed', { declineCode: '1104' })],
    ['Declined', '1151', ignored('no_outcome', 'Declined 1151')],
    ['Declined', '1100', ignored('no_outcome', 'Declined 1100')],
    ['Expired', '1124', payment('canceled')],
    ['Created', '1131', ignored('no_outcome', 'Created 1131')],
    ['InProcessing', '1131', ignored('no_outcome', 'InProcessing 1131')],
    ['inProcessing', '1131', ignored('no_outcome', 'inProcessing 1131')],
    ['Pending', '1134', ignored('no_outcome', 'Pending 1134')],
    ['WaitingAuthComplete', '1100', ignored('no_outcome', 'WaitingAuthComplete 1100')],
    ['RefundInProcessing', '1138', ignored('no_outcome', 'RefundInProcessing 1138')],
    ['approved', '1100', ignored('unhandled_event', 'approved')],
    ['Approved ', '1100', ignored('unhandled_event', 'Approved ')],
    ['constructor', '1100', ignored('unhandled_event', 'constructor')],
    ['x'.repeat(10_000), '1100', ignored('unhandled_event', `${'x'.repeat(99)}…`)],
  ]
  for (const [status, reasonCode, expected] of cases) {
    const outcomes = await outcomesOf({ transactionStatus: JSON.stringify(status), reasonCode })
    assert.deepEqual(outcomes, expected, `${status} ${reasonCode}`)
  }
})

test('amounts are read from their text; what is no amount or no currency is left out', async () => {
  const read = async (amount: string, currency = 'UAH') => {
    const [outcome] = await outcomesOf({ amount, currency: JSON.stringify(currency) })
    assert.ok(outcome?.type === 'payment' && outcome.status === 'paid')
    return [outcome.amount, outcome.currency]
  }
  const amounts: readonly (readonly [text: string, amount: bigint | undefined])[] = [
    ['490', 49_000n],
    ['"490"', 49_000n],
    ['490.0', 49_000n],
    ['100.00', 10_000n],
    ['4.35', 435n],
    ['0.01', 1n],
    ['0', 0n],
    ['150.750', 15_075n],
    ['150.755', undefined],
    ['1e2', undefined],
    ['-100', undefined],
    ['" 100 "', undefined],
    ['"100,00"', undefined],
    ['"0x64"', undefined],
    ['"1_00"', undefined],
    ['"١٠٠"', undefined],
    ['"100\\n"', undefined],
    ['"ten"', undefined],
    ['9'.repeat(30), undefined],
  ]
  for (const [text, amount] of amounts) assert.deepEqual(await read(text), [amount, 'UAH'], text)
  assert.deepEqual(await read('500', 'JPY'), [500n, 'JPY'])
  assert.deepEqual(await read('1.234', 'KWD'), [1234n, 'KWD'])
  for (const currency of ['uah', 'UAH ', '980', 'ＵＡＨ', 'UAH\u200b', 'XYZ', 'ıAH']) {
    assert.deepEqual(await read('490', currency), [undefined, undefined], currency)
  }
})

test('a scheduled charge is a payment of its own that renews the first', async () => {
  const change = { orderReference: `"${renewalReference}"` }
  const renews = {
    payment: { providerReference: renewalReference },
    providerReference: renewalReference,
    renews: { id: paymentId },
  }
  assert.deepEqual(await outcomesOf(change), payment('paid', renews))
  const declined = { ...change, transactionStatus: '"Declined"', reasonCode: '1104' }
  assert.deepEqual(
    await outcomesOf(declined),
    payment('failed', { ...renews, declineCode: '1104' }),
  )
})

test('every other spelling of a reference is no payment of ours', async () => {
  const references = [
    'AP-1700000000-1',
    `{${paymentId}}`,
    `urn:uuid:${paymentId}`,
    ` ${paymentId}`,
    `${paymentId}\n`,
    `${paymentId}_1`,
    `${paymentId}_WFPREG-`,
    `${paymentId}_WFPREG-77`,
    `${paymentId}_WFPREG-77-`,
    `${paymentId}_WFPREG--3`,
    `${paymentId}_WFPREG-a-3`,
    `${paymentId}_WFPREG-77-3\n`,
    `${paymentId}_WFPREG-77-3_WFPREG-77-4`,
    `x${paymentId}_WFPREG-77-3`,
    `${paymentId}x_WFPREG-77-3`,
    `${paymentId}_wfpreg-77-3`,
    `${'x'.repeat(36)}_WFPREG-77-3`,
    `${paymentId}_WFPREG-${'7'.repeat(19)}-3`,
    `${paymentId}_WFPREG-77-${'3'.repeat(19)}`,
    `${paymentId}_WFPREG-٧-3`,
  ]
  for (const reference of references) {
    const outcomes = await outcomesOf({ orderReference: JSON.stringify(reference) })
    const shown = reference.replaceAll('\n', '\ufffd')
    assert.deepEqual(outcomes, ignored('invalid_reference', shown), reference)
  }
  const longest = `${paymentId}_WFPREG-${'7'.repeat(18)}-${'3'.repeat(18)}`
  const [outcome] = await outcomesOf({ orderReference: `"${longest}"` })
  assert.ok(outcome?.type === 'payment')
  assert.equal(outcome.providerReference, longest)
})

test('the mode follows the merchant account, and a stored call keeps the one it came with', async () => {
  const [test] = await outcomesOf({ merchantAccount: '"test_merch_n1"' })
  assert.ok(test?.type === 'payment')
  assert.deepEqual([test.merchantAccount, test.live], ['test_merch_n1', false])
})

test('what is no callback is named by its fault', async () => {
  assert.deepEqual(await meaningOf('{'), ignored('unreadable_payload', 'invalid_json'))
  assert.deepEqual(await meaningOf(''), ignored('unreadable_payload', 'empty'))
  assert.deepEqual(await meaningOf('[]'), ignored('malformed_payload', 'merchantAccount'))
  const stored = { kind: 'json', text: '[]', value: [], exact: true } as const
  assert.deepEqual(
    await wayforpay.interpret(stored, contextOf()),
    ignored('malformed_payload', 'body'),
  )
  for (const name of ['merchantAccount', 'orderReference', 'transactionStatus']) {
    const outcomes = await meaningOf(jsonOf(without(signedFields(), name)))
    assert.deepEqual(outcomes, ignored('malformed_payload', name))
  }
})

test('what is signed as empty is not stated, and pays nothing', async () => {
  const statedBy = async (changes: RawFields) => {
    const [outcome] = await meaningOf(jsonOf(signedFields(changes)))
    return outcome?.type === 'payment'
      ? [outcome.status, outcome.amount, outcome.currency]
      : outcome?.type
  }
  assert.deepEqual(await statedBy({ amount: 'null' }), ['paid', undefined, 'UAH'])
  assert.deepEqual(await statedBy({ currency: '""' }), ['paid', undefined, undefined])
  assert.deepEqual(await statedBy({ reasonCode: 'null' }), 'ignored')
  const declined = { transactionStatus: '"Declined"', reasonCode: 'null' }
  assert.deepEqual(await statedBy(declined), ['failed', 15_075n, 'UAH'])
})

test('unsigned fields change nothing', async () => {
  const unsigned = fc.constantFrom(
    'fee',
    'email',
    'reason',
    'processingDate',
    'products',
    'status',
    'refundAmount',
    'baseAmount',
    'baseCurrency',
    'paymentSystem',
    'live',
  )
  const values = fc.json().filter((text) => !text.includes('__proto__'))
  await fc.assert(
    fc.asyncProperty(fc.dictionary(unsigned, values), async (changes) => {
      assert.deepEqual(await outcomesOf(changes), payment('paid'))
    }),
  )
  for (const recToken of ['null', '1', '[]', 'true', '{}']) {
    assert.deepEqual(await outcomesOf({ recToken }), payment('paid'), 'no look-up')
  }
})

test('arbitrary JSON, whole or in the fields, never throws and never pays', async () => {
  const lookUps = new Set(['Refunded', 'Voided'])
  const value = fc.oneof(fc.json(), fc.constantFrom('"1100"', '1100', '"Declined"', '"Expired"'))
  const anything = fc.oneof(
    fc.json(),
    fc
      .dictionary(fc.constantFrom(...signedFieldNames), value)
      .map((changes) => jsonOf(signedFields({ transactionStatus: '"Pending"', ...changes }))),
  )
  await fc.assert(
    fc.asyncProperty(anything, async (text) => {
      const outcomes = await meaningOf(text)
      assert.ok(outcomes.length > 0)
      assert.ok(!outcomes.some(isPaid), text)
    }),
  )
  const statuses = fc.string().filter((text) => text !== 'Approved' && !lookUps.has(text))
  await fc.assert(
    fc.asyncProperty(statuses, async (status) => {
      const outcomes = await outcomesOf({ transactionStatus: JSON.stringify(status) })
      assert.ok(!outcomes.some(isPaid), status)
    }),
  )
})

function isPaid(outcome: Outcome): boolean {
  return 'status' in outcome && outcome.status === 'paid'
}
