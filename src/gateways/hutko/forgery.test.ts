import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  key,
  official,
  paidOrder,
  signed,
  verdictOn,
  type Parameters,
} from '../../../test/gateways/hutko/callbacks.ts'
import { decided, genuineOrders, uuids } from '../../../test/gateways/hutko/orders.ts'
import {
  merge,
  piecesOf,
  rename,
  signatureOver,
  type Merge,
} from '../../../test/gateways/hutko/renamed.ts'
import { dateTime, digits } from './grammar.ts'

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

/** How pieces are handed in: `choices` says under which names, `merges` which are made one value. */
interface Attempt {
  readonly choices: readonly number[]
  readonly merges: readonly Merge[]
}

/** Names go to fitting pieces from left to right; some are skipped, neighbours of no use merged. */
function forge(pieces: readonly string[], { choices, merges }: Attempt): Parameters {
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
  return merge(rename(pieces, names), merges)
}

test('whatever else verifies under the signature of a genuine callback means the same', () => {
  let tempting = 0
  const attempts = fc.record({
    choices: fc.tuple(
      ...wanted.map(([name]) => (optional.has(name) ? fc.nat(1) : fc.integer({ min: 1, max: 3 }))),
    ),
    merges: fc.array(fc.constantFrom<Merge>('never', 'never', 'late', 'late', 'anywhere'), {
      minLength: 1,
      maxLength: 4,
    }),
  })
  fc.assert(
    fc.property(
      genuineOrders,
      fc.array(attempts, { minLength: 20, maxLength: 20 }),
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
