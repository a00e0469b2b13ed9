import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kysely } from 'kysely'
import type { Tables } from '../../../src/database/tables.ts'
import type { DisputeOutcome, Outcome, RefundOutcome } from '../../../src/payments/outcome.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'
import { apply, applyAll, charge, counting, idOf, nameOf, stated } from './room.ts'

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)
  /** Reason, detail, whose, what was stated, what was expected; in the order of writing. */
  const reviews = async (db: Kysely<Tables>) => {
    const rows = await db.selectFrom('billing.reviews').selectAll().orderBy('id').execute()
    return rows.map((row) =>
      [
        row.reason,
        row.detail,
        row.payment_id && nameOf(row.payment_id),
        row.stated_reference,
        row.stated_amount,
        row.stated_currency,
        row.expected_amount && `of ${row.expected_amount} ${row.expected_currency}`,
      ]
        .map((part) => part ?? '-')
        .join(' '),
    )
  }
  const dispute = (
    status: DisputeOutcome['status'],
    fields: Partial<DisputeOutcome> = {},
  ): Outcome => ({
    type: 'dispute',
    payment: { id: idOf('a') },
    reference: 'dp_1',
    status,
    amount: 500n,
    currency: 'USD',
    ...fields,
  })
  const refunded = (fields: object): RefundOutcome => ({
    type: 'refund',
    payment: { id: idOf('a') },
    status: 'paid',
    currency: 'USD',
    ...fields,
  })

  test(
    'a dispute is a review while it is open, another once it is lost, and none once it is won',
    rolledBack(async (db) => {
      await charge(db, 'a', { status: 'paid' })
      await apply(db, [dispute('open')])
      await apply(db, [dispute('open')])
      await apply(db, [dispute('won')])
      await apply(db, [dispute('lost')])
      assert.deepEqual(await reviews(db), [
        'dispute_open - a dp_1 500 USD of 4999 USD',
        'dispute_lost - a dp_1 500 USD of 4999 USD',
      ])
    }),
  )

  test(
    'a dispute that does not fit its charge is one for that reason',
    rolledBack(async (db) => {
      await charge(db, 'a', { status: 'paid' })
      await apply(db, [dispute('won', { merchantAccount: 'other' })])
      assert.deepEqual(await reviews(db), ['merchant_mismatch - a dp_1 500 USD of 4999 USD'])
    }),
  )

  test(
    'refunds are known by their own ids, or by the sum that was stated',
    rolledBack(async (db) => {
      await charge(db, 'a', { status: 'paid' })
      await apply(db, [refunded({ amount: 9_000n, refundReference: 're_1' })])
      await apply(db, [refunded({ refundedTotal: 20_000n })])
      assert.deepEqual(await reviews(db), [
        'over_refund - a re_1 9000 USD of 4999 USD',
        `over_refund - a ${idOf('a')} 20000 USD of 4999 USD`,
      ])
    }),
  )

  test(
    'a payment is known by its charge, else by its checkout, else as it was named',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const short = { amount: 1n }
      const checkoutReference = 'cs_1'
      await apply(db, [stated('paid', { ...short, checkoutReference, providerReference: 'pi_1' })])
      await apply(db, [stated('paid', { ...short, checkoutReference })])
      await apply(db, [stated('paid', short)])
      assert.deepEqual(
        await reviews(db),
        ['pi_1', 'cs_1', idOf('a')].map(
          (reference) => `amount_mismatch - a ${reference} 1 USD of 4999 USD`,
        ),
      )
    }),
  )

  test(
    'a renewal for other money is one, which expects that of the first time',
    rolledBack(async (db) => {
      await charge(db, 'a', { status: 'paid' })
      const further = { payment: { providerReference: 'pi_2' }, renews: { id: idOf('a') } }
      await apply(db, [stated('paid', { ...further, amount: 6_000n })])
      assert.deepEqual(await reviews(db), ['renewal_money_differs - new pi_2 6000 USD of 4999 USD'])
    }),
  )

  test(
    'a report that changes nothing is known by the payment that it names, if any, and says what was found',
    rolledBack(async (db) => {
      await charge(db, 'a', { checkoutReference: 'cs_1' })
      const ignored = { type: 'ignored', reason: 'no_outcome', money: true } as const
      await apply(db, [{ ...ignored, detail: 'odd', payment: { checkoutReference: 'cs_1' } }])
      await apply(db, [{ ...ignored, reason: 'unreadable_payload' }])
      assert.deepEqual(await reviews(db), [
        'no_outcome odd a cs_1 - - of 4999 USD',
        'unreadable_payload - - - - - -',
      ])
    }),
  )

  test(
    'released money of a payment that has been paid since is one, also if its own call had applied it',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const release = stated('canceled', { ifPaid: 'review' })
      await apply(db, [release], { callId: idOf('e') })
      await apply(db, [stated('paid')])
      assert.deepEqual(await reviews(db), [])
      await apply(db, [release], { callId: idOf('e') })
      await apply(db, [release], { callId: idOf('d') })
      const found = await reviews(db)
      assert.ok(found.length > 0)
      for (const one of found) assert.match(one, /^already_paid /)
    }),
  )

  test(
    'what needs nobody costs no statement, and of a batch each review is written once',
    rolledBack(async (db) => {
      await charge(db, 'a', { status: 'paid' })
      const counted = counting(db)
      await apply(counted.db, [stated('paid')])
      const before = counted.statements()
      const short = stated('paid', { amount: 1n })
      const report = { gateway: 'x', cause: 'call', outcomes: [short, short] } as const
      const calls = [idOf('e'), idOf('f')]
      await applyAll(
        db,
        calls.map((callId) => ({ ...report, callId })),
      )
      assert.ok(before <= 5, `${before} statements`)
      const [row] = await db.selectFrom('billing.reviews').selectAll().execute()
      assert.equal(row?.times, 2)
    }),
  )
})
