import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { detail } from '../detail.ts'
import { ignoredReasons } from '../../payments/reasons.ts'
import {
  adjustment,
  event,
  interpret,
  paymentId,
  renewal,
  savedMethod,
  totals,
  transaction,
  transactionId,
} from '../../../test/gateways/paddle/events.ts'

const types = [
  'transaction.completed',
  'transaction.paid',
  'transaction.payment_failed',
  'transaction.canceled',
  'transaction.ready',
  'adjustment.created',
  'adjustment.updated',
  'payment_method.saved',
  'payment_method.deleted',
]
const anyType = fc.constantFrom(...types)
const words = ['completed', 'paid', 'ready', 'canceled', 'billed', 'approved', 'web', 'api']
const anyValue = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>(...words))

test('no field of any value makes interpretation throw or say what we have no word for', async () => {
  const entities = fc.constantFrom(transaction(), renewal(), adjustment(), savedMethod())
  const fields = [
    'id',
    'status',
    'origin',
    'custom_data',
    'details',
    'payments',
    'totals',
    'action',
  ]
  const damage = fc.dictionary(
    fc.constantFrom(...fields, 'transaction_id', 'subscription_id', 'customer_id', 'type'),
    anyValue,
  )
  await fc.assert(
    fc.asyncProperty(anyType, entities, damage, async (type, entity, changes) => {
      const outcome = await interpret(event(type, { ...entity, ...changes }))
      const reasons: readonly string[] = ignoredReasons
      if (outcome.type === 'ignored') assert.ok(reasons.includes(outcome.reason))
      else assert.ok(['payment', 'refund', 'dispute', 'payment_method'].includes(outcome.type))
    }),
  )
})

test('paid comes only from a paid event about a paid transaction of a checkout or renewal', async () => {
  const own = { payment_id: paymentId }
  const made = fc.record({ status: anyValue, origin: anyValue, custom_data: fc.constant(own) })
  await fc.assert(
    fc.asyncProperty(anyType, made, async (type, fields) => {
      const outcome = await interpret(event(type, { ...transaction(), ...fields }))
      if (outcome.type !== 'payment' || outcome.status !== 'paid') return
      assert.ok(type === 'transaction.completed' || type === 'transaction.paid')
      assert.ok(fields.status === 'completed' || fields.status === 'paid')
      assert.ok(fields.origin === 'web' || fields.origin === 'api')
    }),
    { numRuns: 500 },
  )
})

test('every whole amount is stated as it is written, and no other text is an amount', async () => {
  const amountOf = async (total: string) => {
    const details = { totals: totals({ total }) }
    const outcome = await interpret(event('transaction.paid', transaction({ details })))
    assert.ok(outcome.type === 'payment')
    return outcome.amount
  }
  await fc.assert(
    fc.asyncProperty(fc.bigInt({ min: 0n, max: 9007199254740991n }), async (amount) => {
      assert.equal(await amountOf(String(amount)), amount)
    }),
  )
  const digits = fc.stringMatching(/^[0-9.+ e-]{0,20}$/)
  await fc.assert(
    fc.asyncProperty(fc.oneof(digits, fc.string()), async (text) => {
      const amount = await amountOf(text)
      assert.ok(amount === undefined || String(amount) === text)
    }),
  )
})

test('only the transaction decides which payment is meant, whatever its custom data claim', async () => {
  const at = fc.nat(paymentId.length - 1)
  await fc.assert(
    fc.asyncProperty(at, fc.string({ maxLength: 2 }), async (index, text) => {
      const changed = paymentId.slice(0, index) + text + paymentId.slice(index + 1)
      const entity = transaction({ custom_data: { payment_id: changed } })
      const outcome = await interpret(event('transaction.paid', entity))
      assert.ok(outcome.type === 'payment')
      assert.deepEqual(outcome.payment, { checkoutReference: transactionId })
      assert.deepEqual(outcome.claimed, { id: detail(changed), by: 'payer' })
    }),
  )
})
