import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Outcome } from '../../payments/outcome.ts'
import {
  key,
  official,
  otherPaymentId,
  outcomesOf,
  paidOrder,
  paymentId,
  signed,
  verdictOn,
  type Parameters,
} from './fixtures/callbacks.ts'
import { piecesOf, rename, signatureOver } from './fixtures/renamed.ts'
import { dateTime, digits } from './grammar.ts'

// What a payer might get into a text of the order: all that a forger could use.
const uuids = [paymentId, otherPaymentId, '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e03']
const useful = fc.constantFrom(
  'approved',
  'declined',
  'reversed',
  'created',
  'verified',
  'success',
  'failure',
  'purchase',
  'reverse',
  'verification',
  'card',
  '4815162',
  '917204419',
  '0',
  '4999',
  'UAH',
  'USD',
  'VISA',
  '14.02.2026 09:06:00',
  '516874XXXXXX4309',
  '{"capture_status":null}',
  '{',
  '}',
  ...uuids,
)
const payerText = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: useful },
      { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join('|'))
const wholeForgery = fc
  .record({
    merchant: fc.constantFrom('4815162|', ''),
    id: fc.constantFrom(...uuids),
    status: fc.constantFrom('approved', 'reversed'),
    tail: fc.constantFrom('', '|917204419', '|917204419|success|0|purchase'),
  })
  .map(({ merchant, id, status, tail }) => `${merchant}${id}|${status}|14.02.2026 09:06:00${tail}`)

const genuineOrders = fc
  .record({
    order_status: fc.constantFrom(
      'created',
      'processing',
      'approved',
      'declined',
      'expired',
      'reversed',
      'postponed',
    ),
    amount: fc.nat(100_000).map(String),
    actual_amount: fc.nat(100_000).map(String),
    actual_currency: fc.constantFrom('UAH', 'USD'),
    currency: fc.constantFrom('UAH', 'EUR'),
    reversal_amount: fc.constantFrom('0', '100'),
    tran_type: fc.constantFrom('purchase', 'reverse', 'verification'),
    verification_status: fc.constantFrom('', '', 'verified', 'created'),
    parent_order_id: fc.constantFrom('', '', otherPaymentId),
    additional_info: fc.constantFrom(
      '',
      '{"capture_status":"hold"}',
      '{"note":"a|1|UAH|b","capture_status":"hold"}',
    ),
    merchant_data: fc.oneof(payerText, wholeForgery),
    product_id: fc.oneof(fc.constant(''), payerText),
    sender_email: fc.oneof(fc.constant('olena@example.org'), payerText),
    rrn: fc.constantFrom('', '732198450017'),
    response_code: fc.constantFrom('', 1004),
    masked_card: fc.constant('516874XXXXXX4309'),
  })
  .map((change): Parameters => ({ ...paidOrder, ...change }))

/** Every name that decides, in order, and what a forger would look for to put under it. */
const wanted: readonly (readonly [string, (piece: string) => boolean])[] = [
  ['additional_info', (piece) => piece.startsWith('{')],
  ['amount', (piece) => digits.test(piece)],
  ['currency', (piece) => /^[A-Z]{3}$/.test(piece)],
  ['merchant_id', (piece) => piece === '4815162'],
  ['order_id', (piece) => uuids.includes(piece)],
  ['order_status', (piece) => /^(?:approved|declined|expired|reversed)$/.test(piece)],
  ['order_time', (piece) => dateTime.test(piece)],
  ['parent_order_id', (piece) => uuids.includes(piece)],
  ['payment_id', (piece) => digits.test(piece)],
  ['response_status', (piece) => piece === 'success'],
  ['reversal_amount', (piece) => digits.test(piece)],
  ['tran_type', (piece) => piece === 'purchase' || piece === 'reverse'],
  ['verification_status', (piece) => /^[a-z]+$/.test(piece)],
]

const optional: ReadonlySet<string> = new Set([
  'additional_info',
  'parent_order_id',
  'verification_status',
])

/** Names go to fitting pieces from left to right; `choices` says which, and which are skipped. */
function forge(pieces: readonly string[], choices: readonly number[]): Parameters {
  const names = new Map<number, string>()
  let from = 0
  for (const [index, [name, fits]] of wanted.entries()) {
    const choice = choices[index] ?? 0
    const fitting = pieces.flatMap((piece, at) => (at >= from && fits(piece) ? [at] : []))
    const at = choice === 0 ? undefined : fitting[(choice - 1) % Math.min(3, fitting.length || 1)]
    if (at === undefined) continue
    names.set(at, name)
    from = at + 1
  }
  return rename(pieces, names)
}

/** An amount decides only where money moved. */
function decidingPart(outcome: Outcome): unknown {
  if (outcome.type === 'ignored') return 'ignored'
  if (outcome.type === 'payment_method') return outcome.type
  if (outcome.type !== 'payment' || outcome.status === 'paid') return outcome
  const { amount: _, currency: __, ...rest } = outcome
  return rest
}

const decided = (parameters: Parameters) => outcomesOf(JSON.stringify(parameters)).map(decidingPart)

test('whatever else verifies under the signature of a genuine callback means the same', () => {
  let tempting = 0
  const choices = fc.tuple(
    ...wanted.map(([name]) => (optional.has(name) ? fc.nat(1) : fc.integer({ min: 1, max: 3 }))),
  )
  fc.assert(
    fc.property(
      genuineOrders,
      fc.array(choices, { minLength: 20, maxLength: 20 }),
      (order, tries) => {
        const pieces = piecesOf(order)
        const signature = official.genSignature(order, key)
        assert.equal(signature, signatureOver(pieces))
        const meant = decided(order)
        for (const attempt of tries) {
          const forged = forge(pieces, attempt)
          const meaning = decided(forged)
          const same = JSON.stringify(meaning, inText) === JSON.stringify(meant, inText)
          if (!same && meaning.some((part) => part !== 'ignored')) tempting += 1
          if (verdictOn({ ...forged, signature }) !== 'valid') continue
          assert.deepEqual(meaning, meant)
        }
      },
    ),
    { numRuns: 500 },
  )
  // The forger comes far enough to matter: without the check each of these would have counted.
  assert.ok(tempting > 250, `${tempting} forgeries that would have meant something else`)
})

test('values that decide nothing may have any names: the meaning stays', () => {
  const pieces = piecesOf(paidOrder)
  const named = Object.entries(paidOrder)
    .filter(([, value]) => value !== '')
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const kept = new Map(
    named.flatMap(([name], at): [number, string][] => (decisive.has(name) ? [[at, name]] : [])),
  )
  const renamed = rename(pieces, kept)
  assert.equal(Object.keys(renamed).filter((name) => !decisive.has(name)).length, 11)
  assert.equal(verdictOn({ ...renamed, signature: signatureOver(pieces) }), 'valid')
  assert.deepEqual(decided(renamed), decided(paidOrder))
})

const decisive: ReadonlySet<string> = new Set(wanted.map(([name]) => name))

const inText = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value

test('names that carry nothing change nothing', () => {
  const empty = fc.dictionary(fc.stringMatching(/^[a-z_]{1,12}$/), fc.constantFrom('', null), {
    maxKeys: 5,
  })
  fc.assert(
    fc.property(empty, (padding) => {
      const callback = { ...padding, ...signed(paidOrder) }
      assert.equal(verdictOn(callback), 'valid')
      assert.deepEqual(decided(callback), decided(paidOrder))
    }),
  )
})
