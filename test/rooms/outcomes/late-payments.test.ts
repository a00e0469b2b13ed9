import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../../src/database/tables.ts'
import type { PaymentOutcome } from '../../../src/payments/outcome.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'
import {
  apply,
  applyAll,
  charge,
  counting,
  idOf,
  rowOf,
  standing,
  stated,
  storedCall,
  type Brief,
} from './room.ts'

const claim = (status: 'paid' | 'canceled', also: Brief = {}): Brief => ({
  type: `payment:${status}`,
  claims: status === 'paid' ? 'PaymentSucceeded' : 'PaymentCanceled',
  key: `payment:${status}:a`,
  about: `a ${status}`,
  of: `a ${status}`,
  ...also,
})
const late = { review: true, detail: 'paid_after_cancel' }
const copied = stated('paid', { ifCanceled: 'review' })

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)

  for (const callId of [idOf('f'), null]) {
    test(
      `a report that may not hold any more pays what was canceled: a person looks (${callId === null ? 'a poll' : 'a call'})`,
      rolledBack(async (db) => {
        await charge(db, 'a', { status: 'canceled' })
        const source = { callId, cause: callId === null ? 'poll' : 'call' } as const
        assert.deepEqual(await apply(db, [copied], source), [claim('paid', late)])
        // Tried again, it is marked again; a copy of it by another call is not.
        assert.deepEqual(await apply(db, [copied], source), [claim('paid', late)])
        assert.deepEqual(await apply(db, [copied], { callId: idOf('e') }), [claim('paid')])
      }),
    )
  }

  for (const status of ['pending', 'failed'] as const) {
    test(
      `what was ${status} is paid by such a report like by any other`,
      rolledBack(async (db) => {
        await charge(db, 'a', { status })
        assert.deepEqual(await apply(db, [copied]), [claim('paid')])
        assert.deepEqual(await apply(db, [copied]), [claim('paid')])
      }),
    )
  }

  test(
    'a report that holds pays what was canceled, and nobody need look',
    rolledBack(async (db) => {
      await charge(db, 'a', { status: 'canceled' })
      assert.deepEqual(await apply(db, [stated('paid')]), [claim('paid')])
      assert.deepEqual(await apply(db, [stated('paid')]), [claim('paid')])
    }),
  )

  test(
    'what is canceled and paid by reports that are applied together is late, too',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const report = { gateway: 'x', cause: 'call' } as const
      assert.deepEqual(
        await applyAll(db, [
          { ...report, callId: idOf('e'), outcomes: [stated('canceled')] },
          { ...report, callId: idOf('f'), outcomes: [copied] },
        ]),
        [[claim('canceled')], [claim('paid', late)]],
      )
    }),
  )

  test(
    'one that pays less than was charged is ignored, and stays so',
    rolledBack(async (db) => {
      await charge(db, 'a', { status: 'canceled' })
      const mismatch = { type: 'payment', reason: 'amount_mismatch', review: true }
      const less = { ...copied, amount: 1n }
      const [ignored] = await apply(db, [less])
      assert.deepEqual(ignored, { ...mismatch, of: 'a canceled' })
      assert.deepEqual(await apply(db, [copied, less]), [
        claim('paid', late),
        { ...mismatch, of: 'a paid' },
      ])
    }),
  )

  test(
    'nobody asks whether a payment was canceled that was not, nor where the report holds',
    rolledBack(async (db) => {
      await charge(db, 'a')
      await charge(db, 'b', { status: 'paid' })
      const statements = async (outcome: PaymentOutcome) => {
        const counted = counting(db)
        await apply(counted.db, [outcome])
        return counted.statements()
      }
      assert.equal(await statements(copied), 2)
      assert.equal(await statements(stated('paid', { payment: { id: idOf('b') } })), 1)
      assert.equal(await statements(copied), 2)
    }),
  )

  const release = stated('canceled', { ifPaid: 'refunded' })
  const refunds = async (db: Kysely<Tables>) => {
    const { rows } = await sql<{ refund: string }>`
      select concat_ws(' ', status, amount, currency) as refund from billing.payments
      where parent_id = ${idOf('a')}`.execute(db)
    return rows.map(({ refund }) => refund)
  }
  const refunded = {
    type: 'refund:paid',
    claims: 'PaymentRefunded',
    key: 'refund:paid:new',
    about: 'new paid',
    of: 'a paid',
  }

  test(
    'blocked money that is let go of what is paid had been taken: all of it went back',
    rolledBack(async (db) => {
      const before = await charge(db, 'a', { status: 'paid' })
      assert.deepEqual(await apply(db, [release]), [refunded])
      assert.deepEqual(await refunds(db), ['paid 4999 USD'])
      assert.deepEqual(await rowOf(db, 'a'), before)
    }),
  )

  test(
    'where the payment was canceled by this call, both are said: its event is superseded, the refund new',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const released = { detail: 'released' }
      assert.deepEqual(await apply(db, [release]), [claim('canceled', released)])
      await apply(db, [stated('paid')], { callId: idOf('e') })
      const superseded = { about: 'a paid', of: 'a paid', superseded: true }
      assert.deepEqual(await apply(db, [release]), [claim('canceled', superseded), refunded])
      assert.deepEqual(await refunds(db), ['paid 4999 USD'])
    }),
  )

  test(
    'where the report may be about an earlier try, a person looks, and nothing went back',
    rolledBack(async (db) => {
      await charge(db, 'a', { status: 'paid' })
      assert.deepEqual(await apply(db, [{ ...release, ifPaid: 'review' }]), [
        { type: 'payment', reason: 'already_paid', of: 'a paid', review: true },
      ])
      assert.deepEqual(await refunds(db), [])
    }),
  )

  test(
    'what is let go and paid by reports that are applied together went back as well',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const [, results] = await applyAll(db, [
        { gateway: 'x', cause: 'call', callId: idOf('e'), outcomes: [stated('paid')] },
        { gateway: 'x', cause: 'call', callId: idOf('f'), outcomes: [release] },
      ])
      assert.deepEqual(results, [refunded])
    }),
  )

  /** State and attempts of each call, by the letter of its id. */
  const calls = async (db: Kysely<Tables>) => {
    const { rows } = await sql<{ call: string }>`
      select concat_ws(' ', left(id::text, 1), state, attempts) as call
      from billing.webhook_calls order by id`.execute(db)
    return rows.map(({ call }) => call)
  }
  const outcome = JSON.stringify([
    { result: 'applied', type: 'other' },
    { result: 'applied', type: 'payment:canceled', detail: 'released' },
  ])

  for (const status of ['failed', 'canceled'] as const) {
    test(
      `when what was ${status} is paid after all, the calls that let its money go come again`,
      rolledBack(async (db) => {
        await charge(db, 'a', { status })
        await charge(db, 'b', { status })
        const ofA = { payment_id: idOf('a'), outcome, attempts: 2 }
        await storedCall(db, 'a', { state: 'processed', ...ofA })
        await storedCall(db, 'b', { state: 'ignored', ...ofA })
        await storedCall(db, 'c', { state: 'failed', ...ofA })
        await storedCall(db, 'd', { state: 'processed', ...ofA, outcome: '[{"type":"other"}]' })
        await storedCall(db, 'e', { state: 'processed', ...ofA, payment_id: idOf('b') })
        await apply(db, [stated('paid')])
        assert.deepEqual(await calls(db), [
          'a pending 0',
          'b pending 0',
          'c failed 2',
          'd processed 2',
          'e processed 2',
        ])
      }),
    )
  }

  for (const [from, said] of [
    ['pending', 'paid'],
    ['paid', 'paid'],
    ['pending', 'canceled'],
    ['failed', 'failed'],
  ] as const) {
    test(
      `no call comes again when what was ${from} is ${said}`,
      rolledBack(async (db) => {
        await charge(db, 'a', { status: from })
        await storedCall(db, 'a', { state: 'processed', payment_id: idOf('a'), outcome })
        await apply(db, [stated(said)])
        assert.deepEqual(await calls(db), ['a processed 0'])
        assert.equal(standing(await rowOf(db, 'a')), `a ${said}`)
      }),
    )
  }
})
