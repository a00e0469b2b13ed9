import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import { issuing, numbered } from '../invoices/sellers.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { lastingToday } from '../support/lasting-today.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import {
  actionsOn,
  assertHarmless,
  consolePages,
  hostile,
  type ConsolePages,
} from './console-pages.ts'

onAnyDatabase((engine) => {
  describe('the pages of invoices', () => {
    let billing: StatedBilling
    let pages: ConsolePages
    let month: string
    before(async () => {
      month = (await lastingToday()).slice(0, 7)
      billing = await openStated(engine, { invoices: issuing })
      pages = consolePages(billing.core)
    })
    after(() => billing.close())

    const issue = async (fields: Parameters<StatedBilling['create']>[0] = {}) => {
      const payment = await billing.create(fields)
      return { payment, invoice: await billing.core.invoices.issue(payment.id) }
    }

    test('the filters narrow the list, and a wrong one says what it must be', async () => {
      const owed = await issue({ payable: { type: 'order', id: 'n-1' } })
      const second = await issue()
      await billing.say(paid(second.payment))
      const shows = async (query: string) => {
        const { html } = await pages.get(`/invoices?${query}`)
        return [owed, second].map(({ invoice }) => html.includes(`/invoices/${invoice.id}"`))
      }
      assert.deepEqual(await shows(''), [true, true])
      assert.deepEqual(await shows('status=issued'), [true, false])
      assert.deepEqual(await shows('payable=order:n-1'), [true, false])
      assert.deepEqual(await shows(`payment=${owed.payment.id}`), [true, false])
      assert.deepEqual(await shows(`month=${month}`), [true, true])
      assert.deepEqual(await shows('month=2001-01'), [false, false])
      assert.deepEqual(await shows('series=other'), [false, false])
      const wrong = await pages.get('/invoices?month=soon')
      assert.equal(wrong.status, 400)
      assert.match(wrong.text, /month must be a month such as 2026-11/)
    })

    test('one leads to its payment, and to the document as the payer sees it', async () => {
      const { payment, invoice } = await issue({ description: 'Two chairs' })
      const { text, html } = await pages.get(`/invoices/${invoice.id}`)
      assert.ok(html.includes(`/admin/billing/payments/${payment.id}"`))
      assert.ok(html.includes(`<a href="${invoice.url}"`))
      assert.match(text, /It is owed\./)
      assert.match(text, /Two chairs 1 \$100\.00/)
      assert.match(text, /Seller Ларьок & Sons 12 Khreshchatyk St/)
      assert.equal((await pages.get(`/invoices/${newUuid()}`)).status, 404)
    })

    test('what strangers wrote is shown as text', async () => {
      const { invoice } = await issue({
        description: hostile,
        customer: { name: hostile, address: [hostile] },
      })
      assertHarmless(await pages.get(`/invoices/${invoice.id}`))
      assertHarmless(await pages.get('/invoices'))
    })

    test('one that is owed is voided, once; a paid one says why not', async () => {
      const { invoice } = await issue()
      const form = await pages.form(`/invoices/${invoice.id}/void`)
      const done = await pages.post(`/invoices/${invoice.id}/void`, form)
      assert.match(done.location ?? '', /done=invoice_voided$/)
      const again = await pages.post(`/invoices/${invoice.id}/void`, form)
      assert.match(again.location ?? '', /done=already$/)
      const { text, html } = await pages.get(`/invoices/${invoice.id}`)
      assert.match(text, /The buyer owes nothing\./)
      assert.ok(!html.includes('/void?'))
      assert.deepEqual(await actionsOn(billing.core, invoice.id), [
        { operator: 'ops-1', action: 'voidInvoice', detail: {}, outcome: 'done' },
      ])
      const other = await issue()
      await billing.say(paid(other.payment))
      const refused = await pages.press(`/invoices/${other.invoice.id}/void`)
      assert.equal(refused.status, 409)
      assert.match(refused.text, /is paid/)
    })

    test('a month is downloaded by a viewer, too, and who did is recorded', async () => {
      const viewer = consolePages(billing.core, { role: 'viewer', name: 'books' })
      const csv = await viewer.get(`/invoices/export?month=${month}&format=csv`)
      assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8')
      assert.equal(
        csv.headers.get('content-disposition'),
        `attachment; filename="invoices-${month}.csv"`,
      )
      assert.match(csv.html, /^\uFEFF?number,issuer,status/)
      assert.ok(csv.html.includes(numbered(1)))
      const lines = await viewer.get(`/invoices/export?month=${month}&format=jsonl`)
      const [first = ''] = lines.html.split('\n')
      assert.equal((JSON.parse(first) as { number: string }).number, numbered(1))
      assert.deepEqual(await actionsOn(billing.core, month), [
        {
          operator: 'books',
          action: 'exportInvoices',
          detail: { format: 'jsonl', test: false },
          outcome: 'done',
        },
        {
          operator: 'books',
          action: 'exportInvoices',
          detail: { format: 'csv', test: false },
          outcome: 'done',
        },
      ])
    })

    test('a month that is none is refused, and nothing is recorded of it', async () => {
      const wrong = await pages.get('/invoices/export?month=2026-13')
      assert.equal(wrong.status, 400)
      assert.match(wrong.text, /month must be a month such as 2026-11/)
      assert.deepEqual(await actionsOn(billing.core, '2026-13'), [])
      assert.equal((await pages.get('/invoices/export')).status, 400)
    })
  })
})
