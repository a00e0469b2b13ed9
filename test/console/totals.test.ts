import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { dayAfter, type Day } from '../../src/kernel/day.ts'
import { totalDays } from '../../src/upkeep/total-days.ts'
import { writeMove } from '../inspect/moves.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { lastingToday } from '../support/lasting-today.ts'
import {
  actionsOn,
  assertHarmless,
  consolePages,
  hostile,
  type ConsolePages,
} from './console-pages.ts'

let today: Day
const ago = (days: number) => dayAfter(today, -days)

onAnyDatabase((engine) => {
  describe('the page of totals', () => {
    let billing: TestBilling
    let pages: ConsolePages
    let viewer: ConsolePages
    before(async () => {
      today = await lastingToday()
      billing = await openBilling(engine)
      pages = consolePages(billing.core)
      viewer = consolePages(billing.core, { role: 'viewer', name: 'books' })
    })
    after(() => billing.close())
    const compute = async () => {
      await sql`truncate billing.totaled_days, billing.day_totals`.execute(billing.database.db)
      await totalDays(billing.database)
    }

    test('says that nothing was paid, and what waits to be computed', async () => {
      const { text, html, status } = await viewer.get('/totals')
      assert.equal(status, 200)
      assert.match(text, /Nothing was paid, refunded or disputed in these days\./)
      assert.match(text, /Today is not added up yet: a worker does it every 15 minutes\./)
      assert.doesNotMatch(text, /not computed/)
      assert.doesNotMatch(html, /totals\/export/)
      assert.match(html, /<a href="\/admin\/billing\/totals"\s+aria-current="page"/)
      await compute()
      // In the first hour of a day the one before is not computed to the end yet.
      await sql`update billing.totaled_days set computed_at = computed_at + interval '1 h'`.execute(
        billing.database.db,
      )
      assert.doesNotMatch((await viewer.get('/totals')).text, /not computed|added up/)
    })

    test('shows each day by account and mode, and sums, where live and test money stand apart', async () => {
      const live = { live: true, account: 'acct_1', currency: 'UAH' }
      const at = (days: number) => `${ago(days)}T00:00:00Z`
      await writeMove(billing, { ...live, at: at(0), amount: 199_900n })
      await writeMove(billing, { ...live, at: at(0), amount: 100n })
      await writeMove(billing, { ...live, at: at(2), amount: 5_000n })
      await writeMove(billing, { ...live, at: at(2), amount: 250_000n, kind: 'refunded' })
      await writeMove(billing, { ...live, at: at(2), amount: 1_000n, kind: 'returned' })
      await writeMove(billing, { live: false, currency: 'UAH', at: at(2), amount: 700n })
      await compute()
      const { text } = await viewer.get('/totals')
      const row = (...cells: readonly string[]) =>
        assert.ok(text.includes(cells.join(' ')), `${cells.join(' ')} is not in ${text}`)
      row(today, 'not over', 'fake', 'acct_1', 'LIVE', 'UAH 2,000.00 2×', '–', 'UAH 2,000.00', '–')
      const refunds = ['UAH 2,500.00 1×', 'failed later: UAH 10.00 1×', '−UAH 2,440.00', '–']
      row(ago(2), 'fake', 'acct_1', 'LIVE', 'UAH 50.00 1×', ...refunds)
      row(ago(2), 'fake', '–', 'TEST', 'UAH 7.00 1×', '–', 'UAH 7.00')
      row('UAH', 'LIVE', 'UAH 2,050.00 3×', 'UAH 2,500.00 1×')
      row('UAH', 'TEST', 'UAH 7.00 1×', '–', 'UAH 7.00')
      row(ago(30), 'to', today, 'Sums of all these days')
    })

    test('a month or a range of days narrows it, and what is neither is refused', async () => {
      const shows = async (query: string) => {
        const { text } = await pages.get(`/totals?${query}`)
        return [0, 2].map((days) => text.includes(`${ago(days)} `))
      }
      assert.deepEqual(await shows(`from=${today}`), [true, false])
      assert.deepEqual(await shows(`to=${ago(1)}`), [false, true])
      assert.deepEqual(await shows(`from=${ago(2)}&to=${ago(2)}`), [false, true])
      assert.deepEqual((await shows(`month=${today.slice(0, 7)}`))[0], true)
      assert.deepEqual(await shows('month=2001-01'), [false, false])
      for (const [query, fault] of [
        ['month=soon', /month must be a month such as 2026-11/],
        [`month=2026-11&from=${today}`, /month cannot be chosen together with days/],
        ['from=soon', /from must be a day such as 2026-11-26/],
        ['to=2026-02-31', /to must be a day such as 2026-11-26|from must be a day/],
        [`from=2001-01-01&to=${today}`, /to must be at most 366 days after from/],
      ] as const) {
        const wrong = await pages.get(`/totals?${query}`)
        assert.equal(wrong.status, 400, query)
        assert.match(wrong.text, fault)
        assert.equal((await pages.get(`/totals/export?${query}`)).status, 400)
      }
    })

    test('a day is downloaded by a viewer, too, and so is what is shown; who did is recorded', async () => {
      const { html } = await viewer.get(`/totals?from=${ago(3)}&to=${today}`)
      assert.ok(html.includes(`/totals/export?from=${ago(2)}&amp;to=${ago(2)}"`))
      assert.ok(html.includes(`/totals/export?from=${ago(3)}&amp;to=${today}"`))
      const one = await viewer.get(`/totals/export?from=${ago(2)}&to=${ago(2)}`)
      assert.equal(one.headers.get('content-type'), 'text/csv; charset=utf-8')
      assert.equal(
        one.headers.get('content-disposition'),
        `attachment; filename="totals-${ago(2)}.csv"`,
      )
      const [head = '', ...rows] = one.html.trimEnd().split('\r\n')
      const names = head.replace('\u{feff}', '').split(',')
      const read = rows.map((row) =>
        Object.fromEntries(row.split(',').map((cell, at) => [names[at] ?? '', cell])),
      )
      assert.deepEqual(
        read.map((cells) =>
          names
            .filter((name) => name !== 'computed_at')
            .map((name) => cells[name])
            .join(' '),
        ),
        [
          `${ago(2)} yes fake  test UAH 1 7.00 0 0.00 0 0.00 0 0 0`,
          `${ago(2)} yes fake acct_1 live UAH 1 50.00 1 2500.00 1 10.00 0 0 0`,
        ],
      )
      const range = await viewer.get(`/totals/export?from=${ago(3)}&to=${today}`)
      assert.match(range.html, new RegExp(`\n${today},no,`))
      for (const subject of [ago(2), `${ago(3)}/${today}`]) {
        assert.deepEqual(await actionsOn(billing.core, subject), [
          { operator: 'books', action: 'exportTotals', detail: {}, outcome: 'done' },
        ])
      }
    })

    test('days that are not computed yet are counted on the page, and named in the file', async () => {
      await sql`truncate billing.totaled_days, billing.day_totals`.execute(billing.database.db)
      const { text } = await viewer.get('/totals')
      assert.match(text, /[2-9] of these days are not computed to the end yet: a worker does it/)
      const { html } = await pages.get(`/totals/export?from=${ago(1)}&to=${today}`)
      assert.match(html, new RegExp(`\n${today},,not computed yet\r\n${ago(1)},,not computed yet`))
      await compute()
    })

    test('an account of any name is shown as text, and begins no formula in the file', async () => {
      await writeMove(billing, { at: `${ago(5)}T00:00:00Z`, account: hostile })
      for (const account of ['=1+1', '@SUM(A1)', '\t=1', '+1', '-1']) {
        await writeMove(billing, { at: `${ago(5)}T00:00:00Z`, account })
      }
      await compute()
      assertHarmless(await pages.get('/totals'))
      const { html } = await pages.get(`/totals/export?from=${ago(5)}&to=${ago(5)}`)
      assert.doesNotMatch(html, /[\u{202e}\t]|4242424242424242/u)
      for (const text of [`,'=1+1,`, `,'@SUM(A1),`, `,'+1,`, `,'-1,`, ',\\u{9}=1,']) {
        assert.ok(html.includes(text), text)
      }
    })

    test('of very many rows the newest are shown, and all are in the sums and in the file', async () => {
      await sql`insert into billing.day_totals select ${ago(9)}::date, 'fake', 'account ' || number, 'live',
          'EUR', 1, 100, 0, 0, 0, 0, 0, 0, 0
        from generate_series(1, 600) as number`.execute(billing.database.db)
      await sql`insert into billing.totaled_days values (${ago(9)}::date, now())
        on conflict do nothing`.execute(billing.database.db)
      const { text, html } = await pages.get(`/totals?from=${ago(9)}&to=${ago(9)}`)
      assert.match(text, /These are the newest 500 of 600 rows/)
      assert.match(text, /EUR LIVE €600\.00 600×/)
      assert.equal([...html.matchAll(/<th scope="row"/g)].length, 501)
      const file = await pages.get(`/totals/export?from=${ago(9)}&to=${ago(9)}`)
      assert.equal(file.html.trimEnd().split('\r\n').length, 601)
    })
  })
})
