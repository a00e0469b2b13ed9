import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pendingPayment } from '../../test/support/pending-payment.ts'
import type { Standing } from '../gateways/operations.ts'
import { days, minutes } from '../kernel/duration.ts'
import type { Payment } from '../payments/payment.ts'
import { isWrittenOff } from './is-written-off.ts'

const handedAt = new Date('2026-11-20T12:00:00Z')
const after = (age: number) => new Date(handedAt.getTime() + age)
const payment = pendingPayment({ gateway: 'x', handedAt, checkout: 'open' })
const grace = minutes(15)

/** Of a payment with these fields, so long after it was handed over: after which standings. */
function writtenOff(age: number, fields: Partial<Payment> = {}): readonly Standing[] {
  const standings = ['open', 'undecided', 'paid', 'unpaid', 'absent', 'unclear'] as const
  const found = { ...payment, ...fields }
  return standings.filter((standing) => isWrittenOff(found, standing, after(age)))
}

test('an end counts a quarter of an hour later, and only where nobody has paid', () => {
  const ended = { expiresAt: after(days(1)) }
  assert.deepEqual(writtenOff(days(1) + grace + 1, ended), ['open', 'unpaid', 'absent'])
  for (const checkout of ['none', 'unknown', 'open', 'refused', 'closed'] as const) {
    const standings = writtenOff(days(1) + grace + 1, { ...ended, checkout })
    assert.deepEqual(standings, ['open', 'unpaid', 'absent'], checkout)
  }
})

test('before its end, or without one, only what the provider says counts', () => {
  const onTime: readonly Partial<Payment>[] = [{ expiresAt: after(days(1)) }, { expiresAt: null }]
  for (const fields of onTime) {
    const at = (age: number, checkout: Payment['checkout']) =>
      writtenOff(age, { ...fields, checkout })
    for (const age of [0, grace]) {
      for (const checkout of ['none', 'unknown', 'open', 'refused', 'closed'] as const) {
        assert.deepEqual(at(age, checkout), [], `${checkout} at ${age}`)
      }
    }
    assert.deepEqual(at(grace + 1, 'none'), [])
    assert.deepEqual(at(grace + 1, 'open'), ['unpaid'])
    assert.deepEqual(at(grace + 1, 'closed'), ['unpaid'])
    assert.deepEqual(at(grace + 1, 'unknown'), ['unpaid', 'absent'])
    assert.deepEqual(at(grace + 1, 'refused'), ['unpaid', 'absent'])
  }
  assert.deepEqual(writtenOff(days(1) + grace, { expiresAt: after(days(1)), checkout: 'none' }), [])
})

test('a charge for a period that its provider does not know is canceled only after an hour', () => {
  const id = '00000000-0000-8000-8000-000000000001'
  const of = { periodId: id, paymentMethodId: id, checkout: 'unknown' } as const
  assert.deepEqual(writtenOff(minutes(60), of), ['unpaid'])
  assert.deepEqual(writtenOff(minutes(60) + 1, of), ['unpaid', 'absent'])
  // It was refused: that is certain.
  assert.deepEqual(writtenOff(grace + 1, { ...of, checkout: 'refused' }), ['unpaid', 'absent'])
  // Nobody has the address of a page that nobody was told of.
  assert.deepEqual(writtenOff(grace + 1, { ...of, paymentMethodId: null }), ['unpaid', 'absent'])
})

test('what was never handed to a provider is never written off', () => {
  const fields = { handedAt: null, expiresAt: after(1) }
  assert.deepEqual(writtenOff(days(90), fields), [])
})

test('a standing that nobody has decided on is not taken for one of them', () => {
  assert.throws(() => isWrittenOff(payment, 'forgiven' as Standing, after(0)))
})
