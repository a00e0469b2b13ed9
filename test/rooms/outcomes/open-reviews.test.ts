import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kysely } from 'kysely'
import { openReview, openReviews, type ReviewFinding } from '../../../src/database/reviews.ts'
import type { Tables } from '../../../src/database/tables.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import { onAnyDatabase } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'
import { idOf } from './room.ts'

const twice: ReviewFinding = {
  gateway: 'x',
  reason: 'already_paid_other_reference',
  paymentId: idOf('a'),
  callId: idOf('e'),
  stated: { reference: 'pi_2', amount: 4999n, currency: 'USD' },
  expected: { amount: 4999n, currency: 'USD' },
}

onAnyDatabase((engine) => {
  const rolledBack = rollingBack(engine)
  const rows = (db: Kysely<Tables>) =>
    db.selectFrom('billing.reviews').selectAll().orderBy('id').execute()
  const times = async (db: Kysely<Tables>) => (await rows(db)).map((row) => row.times)
  const close = (db: Kysely<Tables>, operator: string) =>
    db
      .updateTable('billing.reviews')
      .set({ state: 'handled', handled_at: new Date(0), operator, version: 2 })
      .execute()

  test(
    'what was found is written down, with the money that was stated and the money that was expected',
    rolledBack(async (db) => {
      const { id, state } = await openReview(db, twice, newUuid)
      const [row] = await rows(db)
      assert.deepEqual([row?.id, row?.state, row?.times], [id, state, 1])
      assert.deepEqual(
        [row?.gateway, row?.reason, row?.payment_id, row?.webhook_call_id],
        ['x', 'already_paid_other_reference', idOf('a'), idOf('e')],
      )
      assert.deepEqual(
        [row?.stated_reference, row?.stated_amount, row?.stated_currency],
        ['pi_2', 4999n, 'USD'],
      )
      assert.deepEqual([row?.expected_amount, row?.expected_currency], [4999n, 'USD'])
    }),
  )

  test(
    'the same again, by another callback or by a poll, adds one; by the call that said it, nothing',
    rolledBack(async (db) => {
      await openReview(db, twice, newUuid)
      await openReview(db, twice, newUuid)
      assert.deepEqual(await times(db), [1])
      await openReview(db, { ...twice, callId: idOf('f') }, newUuid)
      await openReview(db, twice, newUuid)
      assert.deepEqual(await times(db), [2])
      await openReview(db, { ...twice, callId: null }, newUuid)
      assert.deepEqual(await times(db), [3])
    }),
  )

  test(
    'another gateway, payment, period, reason, detail, reference, amount or currency is another review',
    rolledBack(async (db) => {
      const others: readonly ReviewFinding[] = [
        twice,
        { ...twice, gateway: 'y' },
        { ...twice, paymentId: idOf('b') },
        { ...twice, periodId: idOf('c') },
        { ...twice, reason: 'amount_mismatch' },
        { ...twice, detail: 'something' },
        { ...twice, stated: { ...twice.stated, reference: 'pi_3' } },
        { ...twice, stated: { ...twice.stated, amount: 5n } },
        { ...twice, stated: { ...twice.stated, currency: 'EUR' } },
      ]
      const found = await openReviews(db, others, newUuid)
      assert.equal(new Set(found.map(({ id }) => id)).size, others.length)
      const again = await openReviews(db, others, newUuid)
      assert.deepEqual(again, found)
    }),
  )

  test(
    'what names neither a payment nor a reference is told apart by its call, and so is a call that failed',
    rolledBack(async (db) => {
      const unreadable = { gateway: 'x', reason: 'unreadable_payload' } as const
      const failed = {
        gateway: 'x',
        reason: 'call_failed',
        paymentId: idOf('a'),
        isOfCall: true,
      } as const
      const calls = [idOf('e'), idOf('f')]
      await openReviews(
        db,
        [unreadable, failed].flatMap((one) => calls.map((callId) => ({ ...one, callId }))),
        newUuid,
      )
      assert.deepEqual(await times(db), [1, 1, 1, 1])
    }),
  )

  test(
    'the same of two calls in one batch is one review, said twice',
    rolledBack(async (db) => {
      const [one, two] = await openReviews(db, [twice, { ...twice, callId: idOf('f') }], newUuid)
      assert.deepEqual(one, two)
      assert.deepEqual(await times(db), [2])
    }),
  )

  test(
    'said again, what a person has handled stays handled; what is news, or what the service itself has closed, is open again',
    rolledBack(async (db) => {
      await openReview(db, twice, newUuid)
      await close(db, 'ops-1')
      const again = { ...twice, callId: idOf('f') }
      assert.equal((await openReview(db, again, newUuid)).state, 'handled')
      assert.deepEqual(await times(db), [2])
      assert.equal((await openReview(db, { ...again, isNews: true }, newUuid)).state, 'open')
      await close(db, 'service')
      assert.equal((await openReview(db, again, newUuid)).state, 'open')
      const [row] = await rows(db)
      assert.deepEqual([row?.state, row?.handled_at, row?.version], ['open', null, 3])
    }),
  )

  test(
    'texts of any length with any characters, and money beyond what fits, are no obstacle',
    rolledBack(async (db) => {
      const odd = `\u0000\ud800${'x'.repeat(100_000)}`
      const stated = { reference: odd, amount: 10n ** 30n, currency: odd }
      await openReview(db, { ...twice, detail: odd, stated }, newUuid)
      const [row] = await rows(db)
      assert.deepEqual([row?.stated_amount, row?.stated_reference?.length], [null, 2_000])
    }),
  )
})
