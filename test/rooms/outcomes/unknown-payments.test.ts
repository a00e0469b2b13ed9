import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Outcome } from '../../../src/payments/outcome.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'
import { apply, applyAll, charge, idOf, nameOf, stated, type Brief } from './room.ts'

const waiting = (type: string, awaiting: readonly string[], also: Brief = {}): Brief => ({
  type,
  reason: 'unknown_payment',
  awaiting,
  ...also,
})
const a = `id:${idOf('a')}`

const single = { currency: 'USD', amount: 1n, refundReference: 're_1' } as const
/** What can be said of a payment, with this reference. */
const sayings = (payment: Outcome['payment'] & {}) =>
  [
    { ...stated('failed'), payment },
    { ...single, type: 'refund', payment, status: 'pending' },
    { type: 'dispute', payment, reference: 'dp_1', status: 'lost' },
    { type: 'payment_method', payment, reference: 'card_1', status: 'attached' },
  ] as const satisfies readonly Outcome[]

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)

  for (const [reference, key] of [
    [{ id: idOf('a') }, a],
    [{ checkoutReference: 'cs_1' }, 'checkout:x/cs_1'],
    [{ providerReference: 'pi_1' }, 'provider:x/pi_1'],
  ] as const) {
    test(
      `what is said of a payment that is not there waits for it by ${key.split(':')[0]}, and says what it is`,
      rolledBack(async (db) => {
        assert.deepEqual(await apply(db, sayings(reference)), [
          waiting('payment', [key], { detail: 'failed' }),
          waiting('refund', [key], { detail: 'pending' }),
          waiting('dispute', [key], { detail: 'lost' }),
          waiting('payment_method', [key]),
        ])
      }),
    )
  }

  test(
    'an id that is none of ours can never be there: nothing waits for it',
    rolledBack(async (db) => {
      const invalid = (type: string) => ({ type, reason: 'invalid_reference' })
      assert.deepEqual(await apply(db, sayings({ id: 'order-7' })), [
        invalid('payment'),
        invalid('refund'),
        invalid('dispute'),
        invalid('payment_method'),
      ])
    }),
  )

  test(
    'a claimed id is another name to wait for; one that is none of ours is said to be so',
    rolledBack(async (db) => {
      const claiming = (id: string) =>
        stated('failed', {
          payment: { checkoutReference: 'cs_1' },
          claimed: { id, by: 'payer' },
        })
      assert.deepEqual(await apply(db, [claiming(idOf('a')), claiming('order-7')]), [
        waiting('payment', ['checkout:x/cs_1', a], { detail: 'failed' }),
        {
          type: 'payment',
          reason: 'invalid_reference',
          detail: 'order-7',
          awaiting: ['checkout:x/cs_1'],
        },
      ])
    }),
  )

  test(
    'what pays an unknown payment says so, unless whoever claims it pays nothing',
    rolledBack(async (db) => {
      const payment = { providerReference: 'pi_1' }
      const claimed = { id: idOf('a'), by: 'payer' } as const
      const keys = ['provider:x/pi_1']
      assert.deepEqual(
        await apply(db, [
          stated('paid', { payment }),
          stated('paid', { payment, claimed }),
          stated('paid', { payment, claimed, amount: 0n }),
          stated('canceled', { payment, claimed, amount: 0n }),
        ]),
        [
          waiting('payment', keys, { detail: 'paid' }),
          waiting('payment', [...keys, a], { detail: 'paid' }),
          waiting('payment', [...keys, a]),
          waiting('payment', [...keys, a], { detail: 'canceled' }),
        ],
      )
    }),
  )

  test(
    'another account’s payment is found by the provider’s id, and said to be another’s',
    rolledBack(async (db) => {
      const reference = { providerReference: 'pi_1' }
      await charge(db, 'b', { ...reference, merchantAccount: 'theirs' })
      const mismatch = (type: string, review: boolean) => ({
        type,
        reason: 'merchant_mismatch',
        of: 'b pending pi_1',
        ...(review && { review }),
      })
      assert.deepEqual(await apply(db, sayings(reference)), [
        mismatch('payment', false),
        mismatch('refund', false),
        mismatch('dispute', true),
        mismatch('payment_method', false),
      ])
      await charge(db, 'a', { ...reference, merchantAccount: 'ours' })
      await charge(db, 'c', { ...reference, merchantAccount: 'another' })
      const [own] = await apply(db, [{ ...sayings(reference)[0], merchantAccount: 'ours' }])
      assert.deepEqual([own?.['claims'], own?.['of']], ['PaymentFailed', 'a failed pi_1'])
    }),
  )

  test(
    'a checkout of another account’s payment is said to be so, whatever payment of ours it is claimed for',
    rolledBack(async (db) => {
      await charge(db, 'a')
      await charge(db, 'b', { merchantAccount: 'theirs', checkoutReference: 'cs_1' })
      const claimed = { id: idOf('a'), by: 'anybody' } as const
      const said = stated('paid', { payment: { checkoutReference: 'cs_1' }, claimed })
      // It waits for nothing: the sweeper would put its call back for ever.
      assert.deepEqual(await apply(db, [said]), [
        { type: 'payment', reason: 'merchant_mismatch', review: true, of: 'b pending cs_1' },
      ])
    }),
  )

  test(
    'a claim says whose an ignored report is; its money is for a person where the payment is ours',
    rolledBack(async (db) => {
      await charge(db, 'a', { checkoutReference: 'cs_1' })
      const report = { type: 'ignored', reason: 'no_outcome', money: true } as const
      const known = { payment: { checkoutReference: 'cs_1' } }
      const unknown = { payment: { checkoutReference: 'cs_2' } }
      const claimed = { id: idOf('a'), by: 'anybody' } as const
      const callback = { type: 'callback', reason: 'no_outcome' }
      const ofOurs = { ...callback, of: 'a pending cs_1' }
      assert.deepEqual(
        await apply(db, [
          { ...report, detail: 'charge.expired' },
          { ...report, ...known },
          { ...report, ...unknown },
          { ...report, ...unknown, claimed },
          { ...report, ...known, money: false },
          { type: 'ignored', reason: 'unreadable_payload' },
          { type: 'ignored', reason: 'unhandled_event' },
          { type: 'ignored', reason: 'unknown_payment' },
        ]),
        [
          { ...callback, review: true, detail: 'charge.expired' },
          { ...ofOurs, review: true },
          callback,
          { ...ofOurs, review: true },
          ofOurs,
          { type: 'callback', reason: 'unreadable_payload', review: true },
          { type: 'callback', reason: 'unhandled_event' },
          { type: 'callback', reason: 'unknown_payment' },
        ],
      )
    }),
  )

  test(
    'what is said together is done in the order of its callback, payments first',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const dispute = { type: 'dispute', payment: { id: idOf('a') }, reference: 'dp_1' } as const
      const refunded = { ...single, type: 'refund', payment: { id: idOf('a') } } as const
      const results = await apply(db, [
        { ...refunded, status: 'pending' },
        { ...dispute, status: 'open' },
        { ...dispute, status: 'won' },
        { ...refunded, status: 'paid' },
        stated('paid'),
        { type: 'ignored', reason: 'unhandled_event' },
      ])
      assert.deepEqual(
        results.map(({ type, of }) => [type, of]),
        [
          ['refund:pending', 'a paid'],
          ['dispute:open', 'a paid'],
          ['dispute:won', 'a paid'],
          ['refund:paid', 'a paid'],
          ['payment:paid', 'a paid'],
          ['callback', undefined],
        ],
      )
    }),
  )

  test(
    'cards are written in the order of their references, after all else, however it was said',
    rolledBack(async (db) => {
      const card = (reference: string) =>
        ({ type: 'payment_method', reference, status: 'attached' }) as const
      await charge(db, 'a')
      const names = (['b', 'c', 'd', 'e', 'f'] as const)[Symbol.iterator]()
      const newId = () => idOf(names.next().value ?? 'f')
      const report = { cause: 'call', callId: idOf('f') } as const
      const applied = await applyAll(
        db,
        [
          { ...report, gateway: 'A', outcomes: [card('card_2'), card('card_1')] },
          {
            ...report,
            gateway: 'x',
            outcomes: [
              { ...single, type: 'refund', payment: { id: idOf('a') }, status: 'pending' },
              { type: 'dispute', payment: { id: idOf('a') }, reference: 'dp_1', status: 'open' },
            ],
          },
        ],
        { newId },
      )
      assert.deepEqual(
        applied.flat().map(({ type, key }) => key ?? type),
        [
          'payment_method:attached:A/card_2',
          'payment_method:attached:A/card_1',
          'refund:pending',
          'dispute:open:c',
        ],
      )
      // Each card draws an id for its event, too.
      const { rows } = await sql<{ id: string; what: string }>`
        select id, provider_reference as what from billing.payment_methods
        union select id, 'refund' from billing.payments where type = 'refund'
        union select id, 'dispute' from billing.disputes order by 1`.execute(db)
      assert.deepEqual(
        rows.map(({ id, what }) => `${nameOf(id)} ${what}`),
        ['b refund', 'c dispute', 'e card_1', 'f card_2'],
      )
    }),
  )

  test(
    'what a gateway makes up is refused',
    rolledBack(async (db) => {
      await assert.rejects(apply(db, [{ type: 'payout' } as unknown as Outcome]), /payout/)
    }),
  )
})
