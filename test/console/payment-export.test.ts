import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { onAnyDatabase } from '../support/databases.ts'
import { lastingToday } from '../support/lasting-today.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { refund } from '../support/statements.ts'
import golden from '../golden/csv.json' with { type: 'json' }
import { actionsOn, consolePages, type ConsolePages } from './console-pages.ts'

onAnyDatabase((engine) => {
  describe('payments as a file', () => {
    let billing: StatedBilling
    let viewer: ConsolePages
    before(async () => {
      billing = await openStated(engine)
      viewer = consolePages(billing.core, { role: 'viewer', name: 'books' })
    })
    after(() => billing.close())
    const linesOf = async (query = '') => {
      const answer = await viewer.get(`/payments/export${query}`)
      assert.equal(answer.status, 200)
      const [head = '', ...lines] = answer.html.split('\r\n')
      assert.equal(head, golden.payments.join(','))
      assert.equal(lines.at(-1), '')
      return lines.slice(0, -1)
    }
    /** What was recorded of downloads, newest first. */
    const recorded = async () => {
      const { data } = await billing.core.operators.actions()
      return data.map(({ operator, action, subject, detail, outcome }) =>
        [operator, action, subject, JSON.stringify(detail), outcome].join(' '),
      )
    }

    test('has nothing but its columns where there is no payment', async () => {
      assert.deepEqual(await linesOf(), [])
    })

    test('has what the filter of the page lists, downloaded by a viewer, too; who did is recorded', async () => {
      const payment = await billing.createPaid({
        amount: 199_950,
        currency: 'UAH',
        payable: { type: 'order', id: '881' },
        customer: { email: 'payer@example.com', name: 'not here' },
        description: '4242424242424242, "two" jackets',
        metadata: { cart: '9' },
      })
      await billing.say(refund(payment, 're_1', { amount: 5n }))
      const other = await billing.create({ customer: { email: 'other@example.com' } })
      const { html } = await viewer.get('/payments?status=paid&cursor=')
      assert.ok(html.includes('href="/admin/billing/payments/export?status=paid"'))
      const at = payment.createdAt.toISOString()
      const paidLine =
        `${payment.id},${at},stating,,unknown,paid,charge,1999.50,UAH,0.05,` +
        'order,881,payer@example.com,,,"424242******4242, ""two"" jackets","{""cart"":""9""}",'
      const [line = '', ...more] = await linesOf('?status=paid')
      assert.deepEqual([line.slice(0, paidLine.length), more], [paidLine, []])
      assert.match(line, /Z,0\.00$/)
      assert.deepEqual(await linesOf('?payable=order:881'), [line])
      assert.deepEqual(await linesOf('?payable=order:882'), [])
      const ids = (lines: readonly string[]) => lines.map((line) => line.slice(0, 36))
      assert.deepEqual(ids(await linesOf()), [other.id, payment.id])
      assert.deepEqual(ids(await linesOf('?customer=other@example.com')), [other.id])
      assert.deepEqual(await linesOf('?gateway=fake'), [])
      assert.deepEqual((await recorded()).slice(0, 6), [
        'books exportPayments  {"gateway":"fake"} done',
        'books exportPayments  {"customer":"other@example.com"} done',
        'books exportPayments  {} done',
        'books exportPayments  {"payable":"order:882"} done',
        'books exportPayments  {"payable":"order:881"} done',
        'books exportPayments  {"status":"paid"} done',
      ])
      const today = await lastingToday()
      const answer = await viewer.get('/payments/export')
      assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
      assert.equal(
        answer.headers.get('content-disposition'),
        `attachment; filename="payments-${today}.csv"`,
      )
    })

    test('a filter that is none is refused, and nothing is recorded of it', async () => {
      const before = await recorded()
      const wrong = await viewer.get(`/payments/export?customer=${'x'.repeat(1_001)}`)
      assert.equal(wrong.status, 400)
      assert.deepEqual(await recorded(), before)
      assert.deepEqual(await actionsOn(billing.core, 'x'), [])
    })

    test('begins no formula, breaks no line and hides nothing, whatever anybody wrote', async () => {
      const { id } = await billing.create()
      const write = (fields: Readonly<Record<string, string>>) =>
        sql`update billing.payments set payable_type = 'order', payable_id = ${fields['payable']},
          provider_reference = ${fields['provider']}, checkout_reference = ${fields['checkout']},
          merchant_account = ${fields['account']},
          customer = ${JSON.stringify({ email: fields['email'] })}
        where id = ${id}::uuid`.execute(billing.database.db)
      const lineOf = async () => {
        const line = (await linesOf()).find((one) => one.startsWith(id))
        assert.ok(line)
        return line
      }
      await write({
        payable: `=cmd|' /C calc'!A0`,
        provider: '+1',
        checkout: '-1',
        account: '@SUM(A1:A9)',
        email: '＝HYPERLINK("https://evil.example","x")',
      })
      const formulas = await lineOf()
      assert.match(formulas, /,'@SUM\(A1:A9\),unknown,/)
      assert.ok(
        formulas.includes(
          `,order,'=cmd|' /C calc'!A0,"'＝HYPERLINK(""https://evil.example"",""x"")",'+1,'-1,`,
        ),
        formulas,
      )
      await write({
        payable: '\t=1\r\n=2',
        provider: 'a "quoted", b;c',
        checkout: '\u{202e}txet\u{200b}',
        account: '\r=1',
        email: '4242424242424242@example.com',
      })
      const others = await lineOf()
      assert.match(others, /,\\u\{d\}=1,unknown,/)
      assert.ok(
        others.includes(
          String.raw`,order,\u{9}=1\u{d}\u{a}=2,` +
            String.raw`424242******4242@example.com,"a ""quoted"", b;c",\u{202e}txet\u{200b},`,
        ),
        others,
      )
    })

    test('ends at ten thousand payments, and says so', async () => {
      const { id } = await billing.create({ payable: { type: 'order', id: 'copied' } })
      await sql`insert into billing.payments (id, gateway, status, amount, currency, payable_type, payable_id,
          created_at)
        select gen_random_uuid(), gateway, 'canceled', amount, currency, payable_type, payable_id,
          created_at - make_interval(secs => number)
        from billing.payments, generate_series(1, 10001) as number where id = ${id}::uuid`.execute(
        billing.database.db,
      )
      const lines = await linesOf('?status=canceled')
      assert.equal(lines.length, 10_001)
      assert.equal(lines.at(-1), 'There may be more than these 10000: narrow the filter.')
      assert.equal(new Set(lines).size, 10_001)
      await sql`delete from billing.payments where id = (
        select id from billing.payments where status = 'canceled' limit 1)`.execute(
        billing.database.db,
      )
      assert.equal((await linesOf('?status=canceled')).length, 10_000)
    })
  })
})
