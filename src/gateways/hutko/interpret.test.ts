import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { Outcome } from '../../payments/outcome.ts'
import {
  meaningOf,
  otherPaymentId,
  outcomesOf,
  paidOrder,
  paymentId,
  requestOf,
  type Parameters,
} from '../../../test/gateways/hutko/callbacks.ts'
import { check, ignored, info, payment, refund } from '../../../test/gateways/hutko/meanings.ts'
import { hutko } from './index.ts'
import { interpretHutko } from './interpret.ts'

test('each status of an order means what the page says', () => {
  check([
    [{}, [payment('paid')]],
    [{ order_status: 'declined' }, [payment('failed')]],
    [{ order_status: 'expired' }, [payment('canceled')]],
    [{ order_status: 'created' }, [ignored('no_outcome', 'purchase created')]],
    [{ order_status: 'processing' }, [ignored('no_outcome', 'purchase processing')]],
    [{ order_status: 'reversed', reversal_amount: '4999' }, [payment('paid'), refund(4999n)]],
    [{ order_status: 'reversed', reversal_amount: 1 }, [payment('paid'), refund(1n)]],
    [{ order_status: 'reversed' }, [ignored('malformed_payload', 'reversal_amount')]],
    [{ reversal_amount: '1' }, [payment('paid'), refund(1n)]],
    [{ reversal_amount: 0 }, [payment('paid')]],
    [{ order_status: 'postponed' }, [ignored('unhandled_event', 'purchase postponed')]],
    [{ order_status: 'Approved' }, [ignored('unhandled_event', 'purchase Approved')]],
    [{ order_status: 'toString' }, [ignored('unhandled_event', 'purchase toString')]],
  ])
})

test('a reversal counts once it is done, of what had been paid', () => {
  const reverse = { tran_type: 'reverse' }
  check([
    [
      { ...reverse, order_status: 'reversed', reversal_amount: '4999' },
      [payment('paid'), refund(4999n)],
    ],
    [{ ...reverse, reversal_amount: '100' }, [payment('paid'), refund(100n)]],
    ...['created', 'processing', 'declined', 'expired', 'postponed'].map(
      (order_status) =>
        [
          { ...reverse, order_status, reversal_amount: '100' },
          [ignored('no_outcome', `reverse ${order_status}`)],
        ] as const,
    ),
    [
      { ...reverse, ...info({ capture_status: 'hold' }), reversal_amount: '100' },
      [ignored('no_outcome', 'reverse approved, capture held')],
    ],
  ])
})

test('a charge with a parent renews it, and one with itself as parent does not', () => {
  const renewal = {
    payment: { providerReference: '917204418' },
    renews: { id: otherPaymentId },
  }
  const { renews: _, ...charge } = renewal
  check([
    [{ parent_order_id: otherPaymentId }, [payment('paid', renewal)]],
    [{ parent_order_id: otherPaymentId, order_id: 'auto-2' }, [payment('paid', renewal)]],
    [{ parent_order_id: otherPaymentId, order_status: 'declined' }, [payment('failed', renewal)]],
    [
      { parent_order_id: otherPaymentId, order_status: 'reversed', reversal_amount: '7' },
      [payment('paid', renewal), refund(7n, charge)],
    ],
    [{ parent_order_id: paymentId }, [payment('paid')]],
    [{ parent_order_id: paymentId.toUpperCase() }, [payment('paid')]],
    [{ order_id: paymentId.toUpperCase() }, [payment('paid')]],
    [{ parent_order_id: otherPaymentId.toUpperCase() }, [payment('paid', renewal)]],
    [{ parent_order_id: 'elsewhere' }, [ignored('invalid_reference', 'elsewhere')]],
  ])
})

test('a reference that is no UUID is none of ours', () => {
  const spellings = [
    `{${paymentId}}`,
    `urn:uuid:${paymentId}`,
    ` ${paymentId}`,
    `${paymentId}\n`,
    '4815162_7f3a',
    7,
  ]
  for (const order_id of spellings) {
    const [outcome] = meaningOf({ order_id })
    assert.ok(outcome?.type === 'ignored')
    assert.equal(outcome.reason, 'invalid_reference')
  }
})

test('what every callback has is missing or wrong: nothing is decided', () => {
  const cases: readonly (readonly [Parameters, string])[] = [
    ...[
      'response_status',
      'merchant_id',
      'order_id',
      'order_status',
      'order_time',
      'payment_id',
    ].map((name) => [{ [name]: '' }, name] as const),
    ...['tran_type', 'reversal_amount'].map((name) => [{ [name]: null }, name] as const),
    ...['amount', 'currency', 'order_id', 'rectoken', 'parent_order_id'].map(
      (name) => [{ [name]: ['1'] }, name] as const,
    ),
    [{ response_status: 'Success' }, 'response_status'],
    [{ merchant_id: 'x4815162' }, 'merchant_id'],
    [{ payment_id: '9172044x' }, 'payment_id'],
    [{ order_time: '14.02.2026' }, 'order_time'],
    [{ reversal_amount: '-1' }, 'reversal_amount'],
    [{ reversal_amount: '1.00' }, 'reversal_amount'],
    [{ order_status: true }, 'order_status'],
  ]
  for (const [change, field] of cases) {
    assert.deepEqual(
      meaningOf(change),
      [ignored('malformed_payload', field)],
      JSON.stringify(change),
    )
  }
  const failure = { response_status: 'failure', error_code: 1013 }
  const said = 'response_status failure, error_code 1013'
  assert.deepEqual(outcomesOf(JSON.stringify(failure)), [ignored('no_outcome', said)])
  assert.deepEqual(meaningOf({ ...failure, error_code: '' }), [
    ignored('no_outcome', 'response_status failure, error_code missing'),
  ])
})

test('exactly the parameters that can change a meaning are listed as those that are read', () => {
  for (const name of [...Object.keys(paidOrder), 'additional_info', 'x_new']) {
    const counts = !isDeepStrictEqual(meaningOf({ [name]: ['x'] }), meaningOf())
    assert.equal(hutko.readFields?.includes(name), counts, name)
  }
})

test('an order that nobody has paid may say too little: only of the others must a person look', () => {
  const withoutCharge = (order_status: string) => {
    const body = JSON.stringify({ ...paidOrder, order_status, payment_id: '' })
    return interpretHutko(hutko.parse(requestOf(body)))
  }
  const outcome = ignored('malformed_payload', 'payment_id')
  for (const status of ['created', 'processing', 'declined', 'expired']) {
    assert.deepEqual(withoutCharge(status), [{ ...outcome, money: false }], status)
  }
  for (const status of ['approved', 'reversed', 'postponed', 'Declined']) {
    assert.deepEqual(withoutCharge(status), [outcome], status)
  }
  assert.deepEqual(withoutCharge(''), [ignored('malformed_payload', 'order_status')])
})

test('the merchant and the mode are told as they are', () => {
  const [first] = meaningOf({ merchant_id: '4815162' })
  assert.deepEqual(first, payment('paid'))
  const [foreign] = meaningOf({ merchant_id: 77 })
  assert.deepEqual(foreign, payment('paid', { merchantAccount: '77' }))
  for (const [is_test, live] of [
    [true, false],
    ['true', false],
    ['Y', false],
    [1, false],
    [false, true],
    ['false', true],
    ['N', true],
    ['0', true],
  ] as const) {
    assert.deepEqual(meaningOf(info({ is_test })), [payment('paid', { live })], String(is_test))
    const [ofTest] = meaningOf({ ...info({ is_test }), merchant_id: 1700002 })
    assert.deepEqual(ofTest, payment('paid', { merchantAccount: '1700002', live: false }))
  }
  for (const is_test of [null, '', 'maybe', 2, []]) {
    assert.deepEqual(meaningOf(info({ is_test })), [payment('paid')], String(is_test))
  }
})

const texts = fc.oneof(fc.json(), fc.webQueryParameters(), fc.string())
const fields = fc.dictionary(
  fc.constantFrom(...Object.keys(paidOrder), 'additional_info'),
  fc.jsonValue(),
)

test('whatever comes is interpreted without throwing', () => {
  fc.assert(fc.property(texts, (text) => assert.ok(outcomesOf(text).length > 0)))
  fc.assert(fc.property(fields, (change) => assert.ok(meaningOf(change).length > 0)))
})

test('nothing but a purchase that was approved, or reversed since, and not only blocked is paid', () => {
  const changes = fc.record({
    order_status: fc.oneof(
      fc.constantFrom('approved', 'declined', 'reversed', 'created', 'processing', 'expired'),
      fc.string(),
    ),
    tran_type: fc.constantFrom('purchase', 'reverse', 'verification', 'capture'),
    response_status: fc.constantFrom('success', 'failure', ''),
    additional_info: fc.constantFrom('', '{"capture_status":"hold"}', '{"capture_status":"x"}'),
  })
  const isPaid = (outcome: Outcome) => outcome.type === 'payment' && outcome.status === 'paid'
  fc.assert(
    fc.property(changes, (change) => {
      const settled =
        ['approved', 'reversed'].includes(change.order_status) &&
        ['purchase', 'reverse'].includes(change.tran_type) &&
        change.response_status === 'success' &&
        change.additional_info === ''
      assert.equal(meaningOf({ ...change, reversal_amount: '1' }).some(isPaid), settled)
    }),
  )
})
