import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kysely } from 'kysely'
import { listDisputes } from '../../../src/database/disputes.ts'
import type { Tables } from '../../../src/database/tables.ts'
import type { DisputeOutcome } from '../../../src/payments/outcome.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'
import { apply, charge, historyOf, idOf, rowOf } from './room.ts'

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)

  const dispute = (
    status: DisputeOutcome['status'],
    fields: Partial<DisputeOutcome> = {},
  ): DisputeOutcome => ({
    type: 'dispute',
    payment: { id: idOf('a') },
    reference: 'dp_1',
    status,
    ...fields,
  })
  /** The claim of a status of the first dispute that the room records. */
  const claims = (status: DisputeOutcome['status'], of = 'a paid') => ({
    type: `dispute:${status}`,
    claims: 'PaymentDisputed',
    key: `dispute:${status}:new`,
    about: of,
    dispute: status,
    of,
    ...(status !== 'won' && { review: true }),
  })
  const disputes = async (db: Kysely<Tables>) =>
    (await listDisputes(db, idOf('a'))).map(({ providerReference, status, amount, currency }) =>
      [providerReference, status, amount, currency].join(' '),
    )

  for (const status of ['open', 'lost', 'won'] as const) {
    test(
      `a dispute that is first reported as ${status} is recorded beside its charge, which stays as it is`,
      rolledBack(async (db) => {
        const before = await charge(db, 'a', { status: 'paid' })
        assert.deepEqual(await apply(db, [dispute(status, { amount: 500n, currency: 'USD' })]), [
          claims(status),
        ])
        assert.deepEqual(await disputes(db), [`dp_1 ${status} 500 USD`])
        assert.deepEqual(await rowOf(db, 'a'), before)
        assert.deepEqual(await historyOf(db, idOf('a')), [])
      }),
    )

    test(
      `said again, ${status} changes nothing, and claims the same event`,
      rolledBack(async (db) => {
        await charge(db, 'a', { status: 'paid' })
        const [first] = await apply(db, [dispute(status)])
        const [again] = await apply(db, [dispute(status, { amount: 7n, currency: 'USD' })])
        assert.deepEqual(again, first)
        assert.deepEqual(await disputes(db), [`dp_1 ${status}  `])
      }),
    )
  }

  for (const [known, stated, review] of [
    ['won', 'open', false],
    ['won', 'lost', true],
    ['lost', 'open', false],
    ['lost', 'won', false],
  ] as const) {
    test(
      `a dispute that was ${known} stays so when it is said to be ${stated}${review ? ', which a person looks at' : ''}`,
      rolledBack(async (db) => {
        await charge(db, 'a')
        await apply(db, [dispute(known)])
        const late = { type: 'dispute', reason: 'already_settled', of: 'a pending' }
        assert.deepEqual(await apply(db, [dispute(stated)]), [
          { ...late, ...(review && { review }) },
        ])
        assert.deepEqual(await disputes(db), [`dp_1 ${known}  `])
      }),
    )
  }

  for (const end of ['won', 'lost'] as const) {
    test(
      `an open dispute that is ${end} takes the money that is stated now, else keeps what was stated`,
      rolledBack(async (db) => {
        await charge(db, 'a')
        const other = { reference: 'dp_2' }
        await apply(db, [
          dispute('open', { amount: 500n, currency: 'USD' }),
          dispute('open', { ...other, amount: 7n, currency: 'USD' }),
        ])
        const ended = await apply(db, [
          dispute(end),
          dispute(end, { ...other, amount: 8n, currency: 'EUR' }),
        ])
        const claimed = claims(end, 'a pending')
        assert.deepEqual(ended, [claimed, claimed])
        assert.deepEqual(await disputes(db), [`dp_1 ${end} 500 USD`, `dp_2 ${end} 8 EUR`])
      }),
    )
  }

  test(
    'the same id at two charges is two disputes',
    rolledBack(async (db) => {
      await charge(db, 'a')
      await charge(db, 'b')
      await apply(db, [dispute('won')])
      const [other] = await apply(db, [dispute('open', { payment: { id: idOf('b') } })])
      assert.deepEqual(other, claims('open', 'b pending'))
    }),
  )

  test(
    'a dispute that another account states is not recorded, and a person looks',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const mismatch = { type: 'dispute', reason: 'merchant_mismatch', of: 'a pending' }
      assert.deepEqual(await apply(db, [dispute('won', { merchantAccount: 'another' })]), [
        { ...mismatch, review: true },
      ])
      assert.deepEqual(await disputes(db), [])
    }),
  )
})
