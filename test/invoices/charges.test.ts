import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { sql } from 'kysely'
import { insertInvoice } from '../../src/database/invoices.ts'
import type { BillingEvent } from '../../src/events/catalogue.ts'
import { draftInvoice } from '../../src/invoices/draft-invoice.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { lastingToday } from '../support/lasting-today.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { dispute, paid, refund } from '../support/statements.ts'
import type { Statement } from '../support/stating-gateway.ts'
import { until } from '../support/until.ts'
import { exportedLines, issuing, numbered, numberedTest, seller } from './sellers.ts'

const ended = ({ id }: Payment, status: 'failed' | 'canceled'): Statement => ({
  type: 'payment',
  payment: { id },
  status,
})

onAnyDatabase((engine) => {
  suite('documents of charges', { concurrency: 1 }, () => {
    let billing: StatedBilling
    const heard: BillingEvent[] = []
    before(async () => {
      billing = await openStated(engine, {
        invoices: issuing,
        listen: ({ core }) =>
          core.on(['InvoiceIssued', 'InvoicePaid'], 'bookkeeping', async (event) => {
            heard.push(event)
          }),
      })
    })
    after(() => billing.close())

    const heardOf = (id: string) =>
      heard.flatMap((event) => ('invoice' in event && event.invoice.id === id ? [event] : []))
    const heardAll = (id: string, count: number) =>
      until(async () => heardOf(id).length >= count, { what: `${count} events of a document` })

    test('one of an unpaid charge is owed; it is paid with the charge, and told in this order', async () => {
      const payment = await billing.create({
        amount: 30_000,
        description: 'Two chairs',
        customer: { name: 'Ольга', email: 'o@example.com', address: ['Kyiv', 7, 'Flat 3'] },
      })
      const issued = await billing.core.invoices.issue(payment.id)
      assert.equal(issued.number, numbered(1))
      assert.equal(issued.status, 'issued')
      assert.deepEqual(issued.seller, seller)
      assert.deepEqual(issued.buyer, {
        name: 'Ольга',
        email: 'o@example.com',
        address: ['Kyiv', 'Flat 3'],
      })
      assert.deepEqual(issued.lines, [{ description: 'Two chairs', quantity: 1, amount: 30_000n }])
      assert.equal(issued.total, 30_000n)
      assert.equal(issued.dueAt?.getTime(), issued.issuedAt.getTime() + 14 * 86_400_000)
      await heardAll(issued.id, 1)
      await billing.say(ended(payment, 'failed'))
      assert.equal((await billing.core.invoices.get(issued.id))?.status, 'issued')
      await billing.say(paid(payment))
      const settled = await billing.core.invoices.get(issued.id)
      assert.equal(settled?.status, 'paid')
      assert.notEqual(settled?.paidAt, null)
      await heardAll(issued.id, 2)
      assert.deepEqual(
        heardOf(issued.id).map(({ type, dedupKey }) => [type, dedupKey]),
        [
          ['InvoiceIssued', `invoice:issued:${issued.id}`],
          ['InvoicePaid', `invoice:paid:${issued.id}`],
        ],
      )
      const last = heardOf(issued.id)[1]
      assert.ok(last?.type === 'InvoicePaid')
      assert.equal(last.payment?.id, payment.id)
      assert.equal(last.invoice.status, 'paid')
      // Said again, nothing follows.
      await billing.say(paid(payment))
      const { data } = await billing.core.events.list({ type: 'InvoicePaid' })
      assert.deepEqual(
        data.map(({ invoiceId, paymentId }) => [invoiceId, paymentId]),
        [[issued.id, payment.id]],
      )
    })

    test('one of a paid charge is paid; issued again, it is the same', async () => {
      const payment = await billing.createPaid({ amount: 5_000 })
      const id = newUuid()
      const lines = [
        { description: 'Tea', quantity: 2, amount: 6_000 },
        { description: 'Discount', amount: -1_000n },
      ]
      const buyer = { name: 'Shop', taxId: 'UA1' }
      const issued = await billing.core.invoices.issue(payment.id, { id, lines, buyer })
      assert.equal(issued.id, id)
      assert.equal(issued.status, 'paid')
      assert.deepEqual(issued.buyer, buyer)
      for (const input of [
        {},
        { id },
        { lines },
        { id, lines, buyer: { taxId: 'UA1', name: 'Shop' } },
      ]) {
        assert.equal((await billing.core.invoices.issue(payment.id, input)).number, issued.number)
      }
      for (const input of [
        { id: newUuid() },
        { lines: [{ description: 'Tea', amount: 5_000 }] },
        { buyer: { name: 'Other' } },
      ]) {
        await assert.rejects(billing.core.invoices.issue(payment.id, input), {
          code: 'invoice_exists',
        })
      }
      const other = await billing.createPaid()
      await assert.rejects(billing.core.invoices.issue(other.id, { id }), {
        code: 'invoice_exists',
      })
    })

    test('what cannot be on a document is refused, and uses no number', async () => {
      const payment = await billing.create({ amount: 5_000 })
      const issue = billing.core.invoices.issue
      const bad = [
        { lines: [{ description: 'Tea', amount: 4_999 }] },
        { lines: [] },
        { lines: [{ description: '', amount: 5_000 }] },
        { lines: [{ description: 'Tea', amount: 5_000, quantity: 0 }] },
        { buyer: { nmae: 'x' } },
        { id: 'one' },
        { byuer: {} },
      ]
      for (const input of bad) {
        await assert.rejects(issue(payment.id, input as object), { code: 'invoice_invalid' })
      }
      await assert.rejects(issue(newUuid()), { code: 'payment_not_found' })
      await assert.rejects(issue('none'), { code: 'payment_not_found' })
      const gone = await billing.create()
      await billing.say(ended(gone, 'canceled'))
      await assert.rejects(issue(gone.id), { code: 'invoice_invalid' })
      const { rows } = await sql<{ last: bigint; count: bigint }>`
        select last, (select count(*) from billing.invoices) as count
        from billing.invoice_series`.execute(billing.database.db)
      assert.deepEqual(rows, [{ last: rows[0]?.count, count: rows[0]?.count }])
    })

    test('one that is owed can be void; it keeps its number, and its charge may have another', async () => {
      const payment = await billing.create({ amount: 700 })
      const first = await billing.core.invoices.issue(payment.id)
      const voided = await billing.core.invoices.void(first.id)
      assert.equal(voided.status, 'void')
      assert.equal(voided.number, first.number)
      assert.equal((await billing.core.invoices.void(first.id)).status, 'void')
      const second = await billing.core.invoices.issue(payment.id, { buyer: { name: 'Right' } })
      assert.notEqual(second.number, first.number)
      await billing.say(paid(payment))
      assert.equal((await billing.core.invoices.get(first.id))?.status, 'void')
      assert.equal((await billing.core.invoices.get(second.id))?.status, 'paid')
      await assert.rejects(billing.core.invoices.void(second.id), { code: 'invoice_not_voidable' })
      await assert.rejects(billing.core.invoices.void(newUuid()), { code: 'invoice_not_found' })
      await assert.rejects(billing.core.invoices.void('x'), { code: 'invoice_not_found' })
    })

    test('one of test money has a series of its own, and is no row of the accountant', async () => {
      const payable = { type: 'order', id: 'tried' }
      const issue = async (live: boolean | undefined) => {
        const { id } = await billing.create({ payable, live })
        return billing.core.invoices.issue(id)
      }
      const [tried, real, unknown, triedAgain] = [
        await issue(false),
        await issue(true),
        await issue(undefined),
        await issue(false),
      ]
      const all = [tried, real, unknown, triedAgain]
      assert.deepEqual(
        all.map(({ live }) => live),
        [false, true, null, false],
      )
      assert.deepEqual([tried.number, triedAgain.number], [numberedTest(1), numberedTest(2)])
      assert.equal(Number(unknown.number?.slice(-4)) - Number(real.number?.slice(-4)), 1)
      const listed = async (test?: boolean) => {
        const query = { payable, ...(test !== undefined && { test }) }
        return (await billing.core.invoices.list(query)).data.map(({ id }) => id).toSorted()
      }
      const ids = (invoices: readonly { readonly id: string }[]) =>
        invoices.map(({ id }) => id).toSorted()
      assert.deepEqual(await listed(), ids(all))
      assert.deepEqual(await listed(true), ids([tried, triedAgain]))
      assert.deepEqual(await listed(false), ids([real, unknown]))
      const exported = async (test?: boolean) => {
        const lines = await exportedLines(billing.core, 'jsonl', { ...(test && { test }) })
        const read = lines.map((line) => JSON.parse(line) as { id: string; live: boolean | null })
        return read.filter(({ id }) => all.some((one) => one.id === id))
      }
      assert.deepEqual(ids(await exported()), ids([real, unknown]))
      assert.deepEqual(ids(await exported(true)), ids([tried, triedAgain]))
    })

    test('one whose mode becomes known later says it, and keeps its number', async () => {
      const payment = await billing.create()
      const issued = await billing.core.invoices.issue(payment.id)
      await billing.say({ ...paid(payment), live: false })
      const settled = await billing.core.invoices.get(issued.id)
      assert.equal((await billing.details(payment)).live, false)
      assert.deepEqual([settled?.live, settled?.number], [false, issued.number])
    })

    test('none is dated before the number before it, and it is due in days of its zone', async () => {
      const { db } = billing.database
      const series = 'ORDERED'
      const insert = async (now: Date) => {
        const invoicing = { seller, series, dueDays: 1, timeZone: 'Europe/Kyiv' }
        const payable = { type: 'order', id: '1' }
        const charged = { amount: 1n, currency: 'USD', description: null, payable, customer: null }
        const draft = draftInvoice({ ...charged, live: null }, {}, { invoicing, now })
        await insertInvoice(db, draft, {
          id: newUuid(),
          gateway: 'stating',
          merchantAccount: null,
          subscriptionId: null,
          periodId: null,
          paymentId: null,
          paidAt: null,
          origin: { newId: newUuid, cause: 'operator', callId: null, queue: 'default' },
        })
      }
      const [before, after] = [new Date('2026-10-24T20:29:59.9Z'), new Date('2026-10-24T20:30:00Z')]
      for (const now of [before, after, before]) await insert(now)
      const { data } = await billing.core.invoices.list({ series })
      const dates = data.toSorted((a, b) => ((a.number ?? '') < (b.number ?? '') ? -1 : 1))
      assert.deepEqual(
        dates.map(({ issuedAt }) => issuedAt),
        [before, after, after],
      )
      // A day of Kyiv on which the clocks go back.
      assert.equal(dates.at(-1)?.dueAt?.toISOString(), '2026-10-25T21:30:00.000Z')
      await sql`delete from billing.invoices where series = ${series}`.execute(db)
      await sql`delete from billing.invoice_series where series = ${series}`.execute(db)
    })

    test('what a lost dispute took is credited; an open one is not decided yet', async () => {
      const payment = await billing.createPaid({ amount: 2_000 })
      const { id } = await billing.core.invoices.issue(payment.id)
      const credited = async () => (await billing.core.invoices.get(id))?.credited
      await billing.say(refund(payment, 're_disputed', { amount: 500n }))
      await billing.say(dispute(payment, 'du_credited', { status: 'open', amount: 2_000n }))
      assert.equal(await credited(), 500n)
      await billing.say(dispute(payment, 'du_credited', { status: 'lost', amount: 2_000n }))
      assert.equal(await credited(), 2_000n)
    })

    test('none is issued in a listener: all who number would wait for it', async () => {
      const thrown: unknown[] = []
      const listening = await openStated(engine, {
        invoices: issuing,
        listen: ({ core }) =>
          core.on('PaymentSucceeded', 'issueAtOnce', async ({ payment }) => {
            await core.invoices.issue(payment.id).catch((error: unknown) => thrown.push(error))
          }),
      })
      await listening.createPaid()
      assert.deepEqual(
        thrown.map((error) => (error as { code?: string }).code),
        ['outer_handle_in_listener'],
      )
      assert.equal((await listening.core.invoices.list()).data.length, 0)
      await listening.close()
    })

    test('they are listed by what they are of, newest first', async () => {
      const month = (await lastingToday()).slice(0, 7)
      const payable = { type: 'order', id: 'listed' }
      const one = await billing.core.invoices.issue((await billing.create({ payable })).id)
      const two = await billing.core.invoices.issue((await billing.createPaid({ payable })).id)
      const list = billing.core.invoices.list
      const ids = async (query: Parameters<typeof list>[0]) =>
        (await list(query)).data.map(({ id }) => id)
      assert.deepEqual(await ids({ payable }), [two.id, one.id])
      assert.deepEqual(await ids({ payable, status: 'issued' }), [one.id])
      assert.deepEqual(await ids({ paymentId: two.paymentId ?? '' }), [two.id])
      assert.deepEqual(await ids({ payable, series: 'none' }), [])
      assert.deepEqual(await ids({ payable, month }), [two.id, one.id])
      assert.deepEqual(await ids({ payable, month: '2001-01' }), [])
      const page = await list({ payable, limit: 1 })
      assert.deepEqual(await ids({ payable, cursor: page.nextCursor ?? '' }), [one.id])
      for (const query of [{ month: '2026-13' }, { paymentId: 'x' }, { nope: 1 }]) {
        await assert.rejects(list(query), { code: 'query_invalid' })
      }
    })
  })
})
