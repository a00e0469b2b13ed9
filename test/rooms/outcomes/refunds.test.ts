import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import { listRefunds } from '../../../src/database/payments.ts'
import type { Tables } from '../../../src/database/tables.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import { moveRefund } from '../../../src/outcomes/apply-refund.ts'
import type { RefundedTotalOutcome, SingleRefundOutcome } from '../../../src/payments/outcome.ts'
import type { Payment, PaymentStatus } from '../../../src/payments/payment.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'
import {
  apply,
  charge,
  counting,
  historyOf,
  idOf,
  refund,
  rowOf,
  standing,
  type Brief,
} from './room.ts'

/** One refund of 1000 that the provider calls `re_1`: it went back, if nothing else is said. */
const single = (fields: Partial<SingleRefundOutcome> = {}): SingleRefundOutcome => ({
  type: 'refund',
  payment: { id: idOf('a') },
  status: 'paid',
  amount: 1_000n,
  currency: 'USD',
  refundReference: 're_1',
  ...fields,
})
/** So much has gone back by now. */
const total = (
  refundedTotal: bigint,
  fields: Partial<RefundedTotalOutcome> = {},
): RefundedTotalOutcome => ({
  type: 'refund',
  payment: { id: idOf('a') },
  status: 'paid',
  currency: 'USD',
  refundedTotal,
  ...fields,
})

/** A claim of money that went back. */
const claim = (about: string, also: Brief = {}): Brief => ({
  type: 'refund:paid',
  claims: 'PaymentRefunded',
  key: `refund:paid:${about.split(' ')[0]}`,
  about,
  of: 'a paid',
  ...also,
})
const recorded = (result: string, status: PaymentStatus, also: Brief = {}): Brief => ({
  result,
  type: `refund:${status}`,
  of: 'a paid',
  ...also,
})
const ignored = (reason: string, also: Brief = {}): Brief => ({
  type: 'refund',
  reason,
  of: 'a paid',
  ...also,
})
const forReview = { review: true }

const paidCharge = (db: Kysely<Tables>, fields: Partial<Payment> = {}) =>
  charge(db, 'a', { status: 'paid', ...fields })
/** The refunds of `a`, oldest first, e.g. `b paid re_1 1000`. */
const refundsOf = async (db: Kysely<Tables>) =>
  (await listRefunds(db, idOf('a'))).map((one) => `${standing(one)} ${one.amount}`)
const nextPolls = async (db: Kysely<Tables>) => {
  const { rows } = await sql<{ due: boolean }>`
    select next_poll_at between clock_timestamp() and clock_timestamp() + interval '5 min' as due
    from billing.payments where parent_id = ${idOf('a')} order by created_at`.execute(db)
  return rows.map(({ due }) => due)
}
const claimEvent = async (db: Kysely<Tables>, refundId: string) => {
  await sql`insert into billing.events (id, dedup_key, type, payment_id, source)
    values (${newUuid()}, ${`refund:paid:${refundId}`}, 'PaymentRefunded', ${refundId}, 'call')
    `.execute(db)
}

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)

  test(
    'money that went back of a charge is a row beside it, with an event; the charge stays as it is',
    rolledBack(async (db) => {
      const before = await paidCharge(db, { merchantAccount: 'ours', live: false })
      assert.deepEqual(await apply(db, [single({ merchantAccount: 'ours' })]), [
        claim('new paid re_1'),
      ])
      assert.deepEqual(await rowOf(db, 'a'), before)
      const [row] = await listRefunds(db, idOf('a'))
      assert.ok(row)
      const { type, parentId, status, amount, currency, providerReference, merchantAccount } = row
      assert.deepEqual(
        { type, parentId, status, amount, currency, providerReference, merchantAccount },
        {
          type: 'refund',
          parentId: idOf('a'),
          status: 'paid',
          amount: 1_000n,
          currency: 'USD',
          providerReference: 're_1',
          merchantAccount: 'ours',
        },
      )
      assert.deepEqual(await historyOf(db, row.id), ['pending > paid by call f'])
      assert.deepEqual(await nextPolls(db), [null])
    }),
  )

  test(
    'said again, it changes nothing; its event is claimed, if nobody has',
    rolledBack(async (db) => {
      await paidCharge(db)
      await apply(db, [single()])
      const before = await listRefunds(db, idOf('a'))
      assert.deepEqual(await apply(db, [single(), total(1_000n)]), [
        claim('new paid re_1'),
        claim('new paid re_1'),
      ])
      assert.deepEqual(await listRefunds(db, idOf('a')), before)
    }),
  )

  test(
    'a refund that is begun is recorded, and polled: the callback of its end may be lost',
    rolledBack(async (db) => {
      await paidCharge(db)
      assert.deepEqual(await apply(db, [single({ status: 'pending' })]), [
        recorded('applied', 'pending'),
      ])
      assert.deepEqual(await apply(db, [single({ status: 'pending' })]), [
        recorded('duplicate', 'pending'),
      ])
      assert.deepEqual(await refundsOf(db), ['new pending re_1 1000'])
      assert.deepEqual(await nextPolls(db), [true])
    }),
  )

  for (const [end, results] of [
    ['paid', [claim('new paid re_1')]],
    ['failed', [recorded('applied', 'failed')]],
    ['canceled', [recorded('applied', 'canceled')]],
  ] as const) {
    test(
      `a refund that was pending is ${end} in the end`,
      rolledBack(async (db) => {
        await paidCharge(db)
        await apply(db, [single({ status: 'pending' })])
        const poll = { callId: null, cause: 'poll' } as const
        assert.deepEqual(await apply(db, [single({ status: end })], poll), results)
        const [row] = await listRefunds(db, idOf('a'))
        assert.deepEqual(row && (await historyOf(db, row.id)), [`pending > ${end} by poll`])
      }),
    )
  }

  test(
    'a refund of which nothing was known, and that failed, is recorded as such: nobody need look',
    rolledBack(async (db) => {
      await paidCharge(db)
      assert.deepEqual(await apply(db, [single({ status: 'failed' })]), [
        recorded('applied', 'failed'),
      ])
      assert.deepEqual(await refundsOf(db), ['new failed re_1 1000'])
    }),
  )

  for (const event of ['claimed', 'not claimed']) {
    test(
      `a refund that went back, and failed after all, is for a person (its event ${event})`,
      rolledBack(async (db) => {
        const of = await paidCharge(db)
        await refund(db, 'b', { of, status: 'paid', providerReference: 're_1' })
        if (event === 'claimed') await claimEvent(db, idOf('b'))
        const returned = { ...forReview, detail: 'refund_returned' }
        const failed = single({ status: 'failed' })
        assert.deepEqual(await apply(db, [failed]), [recorded('applied', 'failed', returned)])
        assert.deepEqual(await historyOf(db, idOf('b')), ['paid > failed by call f'])
        // Said again it is known by its event that anybody was told of it.
        assert.deepEqual(await apply(db, [failed]), [
          recorded('duplicate', 'failed', event === 'claimed' ? returned : {}),
        ])
      }),
    )
  }

  for (const [known, said, review] of [
    ['paid', 'pending', {}],
    ['failed', 'pending', {}],
    ['failed', 'paid', forReview],
    ['canceled', 'paid', forReview],
  ] as const) {
    test(
      `a refund that is ${known} does not become ${said}`,
      rolledBack(async (db) => {
        const of = await paidCharge(db)
        const before = await refund(db, 'b', { of, status: known, providerReference: 're_1' })
        assert.deepEqual(await apply(db, [single({ status: said })]), [
          ignored('already_settled', review),
        ])
        assert.deepEqual(await rowOf(db, 'b'), before)
        assert.deepEqual(await historyOf(db, idOf('b')), [])
      }),
    )
  }

  for (const [what, fields, reason] of [
    ['another account', { merchantAccount: 'another' }, 'merchant_mismatch'],
    [
      'another charge of the provider’s',
      { providerReference: 'pi_2' },
      'provider_reference_mismatch',
    ],
    ['another currency', { currency: 'EUR' }, 'amount_mismatch'],
  ] as const) {
    test(
      `what is said of ${what} is not recorded: money that went back is for a person`,
      rolledBack(async (db) => {
        await paidCharge(db, { providerReference: 'pi_1' })
        const of = { of: 'a paid pi_1' }
        assert.deepEqual(
          await apply(db, [single(fields), single({ ...fields, status: 'failed' })]),
          [ignored(reason, { ...of, ...forReview }), ignored(reason, of)],
        )
        assert.deepEqual(await refundsOf(db), [])
      }),
    )
  }

  for (const ours of [null, 'ours']) {
    test(
      `the provider’s id of a refund belongs to one charge of an account (${ours})`,
      rolledBack(async (db) => {
        const account = { merchantAccount: ours }
        const of = await charge(db, 'b', account)
        await refund(db, 'c', { of, status: 'paid', providerReference: 're_1' })
        await paidCharge(db, account)
        const outcome = single(ours === null ? {} : { merchantAccount: ours })
        assert.deepEqual(await apply(db, [outcome]), [
          ignored('provider_reference_taken', forReview),
        ])
        assert.deepEqual(await refundsOf(db), [])
      }),
    )

    test(
      `in another account, or at another gateway, it is another refund (${ours})`,
      rolledBack(async (db) => {
        const theirs = await charge(db, 'b', { merchantAccount: 'theirs' })
        await refund(db, 'c', { of: theirs, providerReference: 're_1' })
        const elsewhere = await charge(db, 'd', { gateway: 'y', merchantAccount: ours })
        await refund(db, 'e', { of: elsewhere, providerReference: 're_1' })
        await paidCharge(db, { merchantAccount: ours })
        const outcome = single(ours === null ? {} : { merchantAccount: ours })
        assert.deepEqual(await apply(db, [outcome]), [claim('new paid re_1')])
      }),
    )
  }

  test(
    'our own refund takes the provider’s id by the first report of it, whatever that says',
    rolledBack(async (db) => {
      const of = await paidCharge(db)
      await refund(db, 'b', { of })
      const own = { refundId: idOf('b') }
      assert.deepEqual(await apply(db, [single({ ...own, status: 'pending' })]), [
        recorded('duplicate', 'pending'),
      ])
      assert.deepEqual(await refundsOf(db), ['b pending re_1 1000'])
      assert.deepEqual(await historyOf(db, idOf('b')), [])
      assert.deepEqual(await apply(db, [single(own)]), [claim('b paid re_1')])
      assert.deepEqual(await refundsOf(db), ['b paid re_1 1000'])
    }),
  )

  test(
    'a report by our own id alone leaves the row without one of the provider’s',
    rolledBack(async (db) => {
      const of = await paidCharge(db)
      await refund(db, 'b', { of })
      const { refundReference: _, ...unnamed } = single({ refundId: idOf('b') })
      assert.deepEqual(await apply(db, [unnamed]), [claim('b paid')])
      assert.deepEqual(await refundsOf(db), ['b paid 1000'])
    }),
  )

  test(
    'a sum is the refund of what it exceeds the known ones by',
    rolledBack(async (db) => {
      const of = await paidCharge(db)
      await refund(db, 'b', { of, status: 'paid', providerReference: 're_1' })
      assert.deepEqual(await apply(db, [total(1_500n)]), [claim('new paid')])
      assert.deepEqual(await refundsOf(db), ['b paid re_1 1000', 'new paid 500'])
    }),
  )

  test(
    'a sum that covers several of our refunds moves each of them, and each has its event',
    rolledBack(async (db) => {
      const of = await paidCharge(db)
      await refund(db, 'b', { of })
      await refund(db, 'c', { of, amount: 700n })
      assert.deepEqual(await apply(db, [total(1_700n)]), [claim('b paid'), claim('c paid')])
      assert.deepEqual(await refundsOf(db), ['b paid 1000', 'c paid 700'])
    }),
  )

  test(
    'a sum that is known has the event claimed that nobody has, else that of the last refund',
    rolledBack(async (db) => {
      const of = await paidCharge(db)
      await refund(db, 'b', { of, status: 'paid' })
      await refund(db, 'c', { of, status: 'paid' })
      assert.deepEqual(await apply(db, [total(2_000n)]), [claim('b paid')])
      await claimEvent(db, idOf('b'))
      assert.deepEqual(await apply(db, [total(2_000n)]), [claim('c paid')])
      await claimEvent(db, idOf('c'))
      assert.deepEqual(await apply(db, [total(2_000n)]), [claim('c paid')])
    }),
  )

  test(
    'a sum of nothing says nothing',
    rolledBack(async (db) => {
      await paidCharge(db)
      assert.deepEqual(await apply(db, [total(0n)]), [ignored('no_outcome')])
      assert.deepEqual(await refundsOf(db), [])
    }),
  )

  test(
    'a sum waits while the provider is being asked for a refund: nobody can tell whether it counts',
    rolledBack(async (db) => {
      const of = await paidCharge(db)
      await refund(db, 'b', { of, isHanded: true })
      await assert.rejects(apply(db, [total(1_000n)]), {
        code: 'refund_under_way',
        message: new RegExp(`a refund of payment ${idOf('a')} is being asked for`),
      })
    }),
  )

  test(
    'as much as was charged may go back; what exceeds it is recorded, and a person looks',
    rolledBack(async (db) => {
      const of = await paidCharge(db)
      await refund(db, 'b', { of, amount: 3_999n, status: 'paid', providerReference: 're_2' })
      assert.deepEqual(await apply(db, [single()]), [claim('new paid re_1')])
      assert.deepEqual(await apply(db, [single()]), [claim('new paid re_1')])
      const over = { ...forReview, detail: 'over_refund' }
      const more = { refundReference: 're_3', amount: 1n }
      assert.deepEqual(await apply(db, [single({ ...more, status: 'pending' })]), [
        recorded('applied', 'pending', over),
      ])
      assert.deepEqual(await apply(db, [single(more)]), [claim('new paid re_3', over)])
      assert.deepEqual(await apply(db, [single({ ...more, status: 'failed' })]), [
        recorded('applied', 'failed', { ...forReview, detail: 'refund_returned' }),
      ])
    }),
  )

  for (const [status, counts] of [
    ['paid', true],
    ['pending', true],
    ['failed', false],
    ['canceled', false],
  ] as const) {
    test(
      `a refund that is ${status} ${counts ? 'takes' : 'takes nothing'} from what may still go back`,
      rolledBack(async (db) => {
        const of = await paidCharge(db)
        await refund(db, 'b', { of, amount: 4_999n, status, providerReference: 're_2' })
        const over = counts ? { ...forReview, detail: 'over_refund' } : {}
        assert.deepEqual(await apply(db, [single()]), [claim('new paid re_1', over)])
      }),
    )
  }

  test(
    'money that went back of what is not paid here is recorded, and a person looks; what is only begun waits',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const of = { of: 'a pending' }
      assert.deepEqual(await apply(db, [single({ status: 'pending' })]), [
        recorded('applied', 'pending', of),
      ])
      assert.deepEqual(await apply(db, [single()]), [
        claim('new paid re_1', { ...of, ...forReview, detail: 'refund_of_unpaid' }),
      ])
      const more = single({ refundReference: 're_2', amount: 4_000n })
      assert.deepEqual(await apply(db, [more]), [
        claim('new paid re_2', { ...of, ...forReview, detail: 'over_refund' }),
      ])
    }),
  )

  test(
    'the row has the last word: what is no longer as the report found it does not move',
    rolledBack(async (db) => {
      const of = await paidCharge(db)
      const stale = await refund(db, 'b', { of, providerReference: 're_1' })
      await apply(db, [single()])
      const report = { gateway: 'x', cause: 'call', callId: idOf('f'), outcomes: [] } as const
      const entry = { report, outcome: single({ status: 'canceled' }) }
      await assert.rejects(moveRefund(db, { entry, refund: stale, newId: newUuid }), {
        message: `refund ${idOf('b')} refused to become canceled`,
      })
    }),
  )

  test(
    'a refund that cannot be written fails its call',
    rolledBack(async (db) => {
      await paidCharge(db)
      await assert.rejects(apply(db, [single()], { newId: () => idOf('a') }), {
        message: `a refund of ${idOf('a')} could not be written`,
      })
    }),
  )

  test(
    'what is known costs no statement that writes',
    rolledBack(async (db) => {
      await paidCharge(db)
      const statements = async (outcome: SingleRefundOutcome | RefundedTotalOutcome) => {
        const counted = counting(db)
        await apply(counted.db, [outcome])
        return counted.statements()
      }
      // The charge, its refunds, the other charges; then the row, and its status.
      assert.equal(await statements(single()), 5)
      assert.equal(await statements(single()), 3)
      // A sum names no refund that another charge could have.
      assert.equal(await statements(total(1_000n)), 2)
      // It came back: a person must look, which is two more.
      assert.equal(await statements(single({ status: 'failed' })), 6)
      // The row, its status, and once more what remains of the sum.
      assert.equal(await statements(total(500n)), 5)
      assert.equal(await statements(total(500n)), 2)
    }),
  )
})
