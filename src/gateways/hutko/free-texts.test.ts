import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findCurrency } from '../../kernel/currency.ts'
import { readUuid } from '../../kernel/uuid.ts'
import {
  paidOrder,
  signed,
  verdictOn,
  type Parameters,
} from '../../../test/gateways/hutko/callbacks.ts'
import {
  decided,
  genuineOrders,
  payerText,
  wholeForgery,
} from '../../../test/gateways/hutko/orders.ts'
import {
  merge,
  piecesOf,
  rename,
  signatureOver,
  type Merge,
} from '../../../test/gateways/hutko/renamed.ts'
import { digits } from './grammar.ts'

const decisive: ReadonlySet<string> = new Set([
  'additional_info',
  'amount',
  'currency',
  'merchant_id',
  'order_id',
  'order_status',
  'order_time',
  'parent_order_id',
  'payment_id',
  'response_status',
  'reversal_amount',
  'tran_type',
  'verification_status',
])

test('where what decides keeps its names, the rest may be cut anyhow: the meaning stays', () => {
  const cuts = fc.array(fc.constantFrom<Merge>('never', 'late', 'late'), {
    minLength: 1,
    maxLength: 7,
  })
  let merged = 0
  fc.assert(
    fc.property(genuineOrders, cuts, (order, merges) => {
      const whole = { ...order, additional_info: '' }
      const pieces = piecesOf(whole)
      const cut = merge(rename(pieces, placesOf(whole)), merges)
      if (verdictOn({ ...cut, signature: signatureOver(pieces) }) !== 'valid') return
      assert.deepEqual(decided(cut), decided(whole))
      if (Object.values(cut).some((value) => String(value).includes('|'))) merged += 1
    }),
    { numRuns: 1000 },
  )
  assert.ok(merged > 30, `${merged} of them have a separator in a value`)
})

/** Which piece of the signed text is the value of each name that decides. */
function placesOf(order: Parameters): ReadonlyMap<number, string> {
  const places = new Map<number, string>()
  let at = 0
  for (const name of Object.keys(order).toSorted()) {
    const own = piecesOf({ [name]: order[name] })
    if (order[name] === '') continue
    if (decisive.has(name)) places.set(at, name)
    at += own.length
  }
  return places
}

// What could stand for a value that decides, wherever it is.
const telling: ReadonlySet<string> = new Set([
  'success',
  'failure',
  'purchase',
  'reverse',
  'verification',
  'created',
  'failed',
  'incorrect',
  'verified',
])
const isTelling = (piece: string) =>
  telling.has(piece) ||
  digits.test(piece) ||
  findCurrency(piece) !== undefined ||
  readUuid(piece) !== undefined

const freeText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 8 }),
      fc.constantFrom('\n', '\t', '\u0000', '\u0001', '\u007f', '\u0085', 'approved', '{', '}', ''),
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((parts) => parts.join('|'))
  .filter((text) => text.isWellFormed() && !text.split('|').some(isTelling))

test('a free text that holds nothing to mistake for another value is accepted as it is', () => {
  const names = ['merchant_data', 'order_desc', 'product_id', 'response_description', 'x_new']
  fc.assert(
    fc.property(fc.constantFrom(...names), freeText, (name, text) => {
      const callback = signed({ ...paidOrder, [name]: text })
      assert.equal(verdictOn(callback), 'valid', JSON.stringify(text))
      assert.deepEqual(decided(callback), decided(paidOrder))
    }),
    { numRuns: 500 },
  )
})

test('whatever stands in a free text, a genuine callback means what it says or is refused', () => {
  const anything = fc.array(fc.oneof(payerText, wholeForgery, freeText), { maxLength: 2 })
  const orders = fc.tuple(
    genuineOrders,
    anything.map((parts) => parts.join('\n')),
  )
  let accepted = 0
  fc.assert(
    fc.property(orders, ([order, text]) => {
      const callback = signed({ ...order, order_desc: text })
      if (verdictOn(callback) !== 'valid') return
      accepted += 1
      assert.deepEqual(decided(callback), decided(order))
    }),
    { numRuns: 500 },
  )
  assert.ok(accepted > 20, `${accepted} accepted`)
})
