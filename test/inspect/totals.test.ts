import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import type { TotalsQuery } from '../../src/index.ts'
import { dayAfter, type Day } from '../../src/kernel/day.ts'
import { totalDays } from '../../src/upkeep/total-days.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { lastingToday } from '../support/lasting-today.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid, refund } from '../support/statements.ts'
import { writeMove } from './moves.ts'

let today: Day
const ago = (days: number) => dayAfter(today, -days)

onAnyDatabase((engine) => {
  describe('totals of days', () => {
    let billing: StatedBilling
    before(async () => {
      today = await lastingToday()
      billing = await openStated(engine)
    })
    after(() => billing.close())
    const read = (query: TotalsQuery) => billing.core.inspect.totals(query)
    const readDay = async (day: string) => {
      const [only, ...others] = await read({ from: day, to: day })
      assert.ok(only)
      assert.deepEqual(others, [])
      return only
    }

    /** As if no day had been computed: what a test writes into the past is new. */
    const compute = async () => {
      await sql`truncate billing.totaled_days, billing.day_totals`.execute(billing.database.db)
      await totalDays(billing.database)
    }

    test('before anything was computed, today has no totals, and other days are not there', async () => {
      const days = await read({ from: dayAfter(today, -3), to: dayAfter(today, 3) })
      assert.deepEqual(days, [
        { day: today, isOver: false, computedAt: null, isFinal: false, totals: [] },
      ])
    })

    test('a day is final once it was computed an hour after its end', async () => {
      const day = dayAfter(today, -2)
      for (const [time, isFinal] of [
        ['00:59:59', false],
        ['01:00:00', true],
      ] as const) {
        await sql`insert into billing.totaled_days (day, computed_at)
          values (${day}::date, (${dayAfter(day)}::date + ${time}::time) at time zone 'UTC')
          on conflict (day) do update set computed_at = excluded.computed_at`.execute(
          billing.database.db,
        )
        const found = await readDay(day)
        assert.deepEqual([found.isOver, found.isFinal], [true, isFinal], time)
      }
      await sql`truncate billing.totaled_days`.execute(billing.database.db)
    })

    test('what is paid, refunded and disputed counts once, on the day on which it was recorded', async () => {
      const first = await billing.createPaid()
      const second = await billing.createPaid({ amount: 2_500, currency: 'UAH' })
      await billing.say(paid(first))
      await billing.say({ ...paid(first), providerReference: 'paid again' })
      const declined = await billing.create()
      await billing.say({ ...paid(declined), status: 'failed' })
      await billing.say(refund(first, 're_1'))
      await billing.say(refund(first, 're_1'))
      await billing.say(refund(first, 're_2', { amount: 500n }))
      await billing.say(refund(first, 're_2', { amount: 500n, status: 'failed' }))
      await billing.say(refund(second, 're_3', { amount: 2_500n }))
      await billing.say(refund(second, 're_4', { amount: 2_500n }))
      await billing.say(refund(second, 're_5', { status: 'pending' }))
      const dispute = { type: 'dispute', payment: { id: first.id }, reference: 'dp_1' } as const
      await billing.say({ ...dispute, status: 'open' })
      await billing.say({ ...dispute, status: 'lost' })
      await billing.say({ ...dispute, status: 'lost' })
      await billing.say({ ...dispute, reference: 'dp_2', status: 'open' })
      await compute()
      const { totals, isOver, computedAt } = await readDay(today)
      assert.ok(!isOver && computedAt)
      const key = { gateway: 'stating', merchantAccount: null, live: null }
      assert.deepEqual(totals, [
        {
          ...key,
          currency: 'UAH',
          paid: { count: 1, amount: 2_500n },
          // More than was paid, as the provider says it.
          refunded: { count: 2, amount: 5_000n },
          returned: { count: 0, amount: 0n },
          disputesOpened: 0,
          disputesWon: 0,
          disputesLost: 0,
        },
        {
          ...key,
          currency: 'USD',
          paid: { count: 1, amount: 10_000n },
          refunded: { count: 2, amount: 1_500n },
          returned: { count: 1, amount: 500n },
          disputesOpened: 2,
          disputesWon: 0,
          disputesLost: 1,
        },
      ])
    })

    test('a day is one in UTC by the clock of the database, whatever the clock of a process said', async () => {
      const at = (time: string) => `${ago(Number(time[0]))}${time.slice(1)}Z`
      for (const [time, madeAt, amount] of [
        ['9T23:59:59.999', '8T00:09:00', 1n],
        ['8T00:00:00.000', '9T23:51:00', 10n],
        ['8T12:00:00.000', '8T12:00:00', 100n],
        ['8T23:59:59.999', '7T00:09:00', 1_000n],
        ['7T00:00:00.000', '8T23:51:00', 10_000n],
      ] as const) {
        await writeMove(billing, { at: at(time), madeAt: at(madeAt), amount })
      }
      await compute()
      const days = await read({ from: ago(9), to: ago(7) })
      assert.deepEqual(
        days.map(({ day, isOver, totals }) => [day, isOver, totals.map((one) => one.paid.amount)]),
        [
          [ago(7), true, [10_000n]],
          [ago(8), true, [1_110n]],
          [ago(9), true, [1n]],
        ],
      )
    })

    test('a refund counts on its own day, and what comes back of it on the day of that', async () => {
      await writeMove(billing, { at: `${ago(6)}T10:00:00Z`, kind: 'refunded', amount: 7n })
      await writeMove(billing, { at: `${ago(4)}T10:00:00Z`, kind: 'returned', amount: 7n })
      await writeMove(billing, { at: `${ago(4)}T11:00:00Z`, kind: 'failed' })
      await compute()
      const days = await read({ from: ago(6), to: ago(4) })
      assert.deepEqual(
        days.map(({ day, totals }) => [
          day,
          totals.map((one) => [one.paid.count, one.refunded.amount, one.returned.amount]),
        ]),
        [
          [ago(4), [[0, 0n, 7n]]],
          [ago(5), []],
          [ago(6), [[0, 7n, 0n]]],
        ],
      )
    })

    test('live and test money, accounts, gateways and currencies stand apart', async () => {
      const at = `${ago(3)}T05:05:05Z`
      const kinds = [
        { live: true, account: 'acct_1' },
        { live: true, account: 'acct_2' },
        { live: true, account: 'acct_2', gateway: 'stripe' },
        { live: true, account: 'acct_2', gateway: 'stripe', currency: 'EUR' },
        { live: false, account: 'acct_1' },
        { account: 'acct_1' },
        { live: false },
      ]
      for (const kind of kinds) {
        await writeMove(billing, { at, ...kind })
        await writeMove(billing, { at, ...kind, amount: 23n })
      }
      await compute()
      const { totals } = await readDay(ago(3))
      assert.deepEqual(
        totals.map(({ gateway, merchantAccount, live, currency, paid: sum }) =>
          [gateway, merchantAccount, live, currency, sum.count, sum.amount].join(' '),
        ),
        [
          'fake  false USD 2 123',
          'fake acct_1 true USD 2 123',
          'fake acct_1 false USD 2 123',
          'fake acct_1  USD 2 123',
          'fake acct_2 true USD 2 123',
          'stripe acct_2 true EUR 2 123',
          'stripe acct_2 true USD 2 123',
        ],
      )
    })

    test('sums are exact, however large', async () => {
      const at = `${ago(2)}T05:05:05Z`
      const largest = 9_007_199_254_740_991n
      await writeMove(billing, { at, amount: largest })
      await sql`insert into billing.payment_transitions (id, payment_id, from_status, to_status, cause, at)
        select overlay(id::text placing lpad(number::text, 12, '0') from 25)::uuid, payment_id,
          'pending', 'paid', 'call', at
        from billing.payment_transitions, generate_series(1, 2000) as number
        where at = ${at}::timestamptz`.execute(billing.database.db)
      await compute()
      const { totals } = await readDay(ago(2))
      assert.equal(totals[0]?.paid.amount, 2_001n * largest)
    })

    test('what is no range of days is refused', async () => {
      for (const [query, fault] of [
        [{ from: '2026-02-30', to: '2026-03-01' }, /^from must be a day such as 2026-11-26$/],
        [{ from: '2026-02-01', to: 'soon' }, /^to must be a day such as 2026-11-26$/],
        [{ from: '2026-03-02', to: '2026-03-01' }, /^to must not be earlier than from$/],
        [{ from: '2026-01-01', to: '2027-01-02' }, /^to must be at most 366 days after from$/],
        [{ from: '2026-01-01' }, /^to /],
        [{ from: new Date(), to: '2026-01-01' }, /^from /],
        [{ from: '2026-01-01', to: '2026-01-01', day: 1 }, /day/],
      ] as const) {
        await assert.rejects(read(query as never), { code: 'query_invalid', message: fault })
      }
      await read({ from: '2026-01-01', to: '2027-01-01' })
    })
  })
})
