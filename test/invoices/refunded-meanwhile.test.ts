import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type pg from 'pg'
import type { BillingEvent } from '../../src/events/catalogue.ts'
import type { Invoice } from '../../src/invoices/invoice.ts'
import { createSubscription } from '../../src/money/create-subscription.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { newSubscription, openSubscribing, type Subscribing } from '../subscriptions/subscribing.ts'
import { idle } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { directPool } from '../support/direct-pool.ts'
import { statedCall, type Statement } from '../support/stating-gateway.ts'
import { paid, refund } from '../support/statements.ts'
import { until } from '../support/until.ts'
import { exportedLines, issuing, numbersIn, upTo } from './sellers.ts'

const amount = 10_000

onPostgres((engine) => {
  suite('a document that is issued while its payment is refunded', { concurrency: 1 }, () => {
    let world: Subscribing
    let direct: pg.Pool
    const heard: BillingEvent[] = []
    /** Holds the transaction of the next report of a refund, in front of its commit. */
    let held: { readonly entered: () => void; readonly released: Promise<void> } | undefined
    before(async () => {
      world = await openSubscribing(
        engine,
        {},
        {
          invoices: issuing,
          listen: ({ core }) =>
            core.on(['InvoiceIssued', 'InvoicePaid', 'PaymentRefunded'], 'books', async (event) => {
              heard.push(event)
              if (event.type !== 'PaymentRefunded') return
              held?.entered()
              await held?.released
            }),
        },
      )
      direct = directPool({ connectionString: world.billing.url, max: 3 })
    })
    after(async () => {
      await direct.end()
      await world.billing.close()
    })

    const report = async (gateway: string, statements: readonly Statement[]) => {
      const { status } = await world.billing.core.receive(statedCall(statements, gateway))
      assert.equal(status, 200)
    }
    /** A statement with these words waits for the lock of another transaction. */
    const waits = (words: string) =>
      until(
        async () => {
          const { rows } = await direct.query(
            `select from pg_stat_activity where datname = current_database()
              and cardinality(pg_blocking_pids(pid)) > 0 and strpos(query, $1) > 0`,
            [words],
          )
          return rows.length === 1
        },
        { what: `${words} waits` },
      )
    const documentsOf = async ({ id: paymentId }: Payment) =>
      (await world.billing.core.invoices.list({ paymentId })).data

    /** The report has done all but its commit when the document is asked for. */
    const reportFirst = async (payment: Payment, statements: readonly Statement[]) => {
      const entered = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      held = { entered: entered.resolve, released: released.promise }
      try {
        await report(payment.gateway, statements)
        await entered.promise
        const asked = world.billing.core.invoices.issue(payment.id)
        await waits('from billing.payments')
        assert.deepEqual(await world.billing.refunds(payment), [], 'nobody sees it yet')
        return { asked }
      } finally {
        held = undefined
        released.resolve()
      }
    }
    /** The document has its number, and is not written when the refund is reported. */
    const documentFirst = async (payment: Payment, statements: readonly Statement[]) => {
      const holding = await direct.connect()
      // It lets everybody read, and nobody write.
      await holding.query('begin; lock table billing.invoices in share mode')
      try {
        const asked = world.billing.core.invoices.issue(payment.id)
        await waits('insert into "billing"."invoices"')
        const { rows: free } = await direct.query(
          'select last from billing.invoice_series for update skip locked',
        )
        assert.deepEqual(free, [], 'its number is taken')
        await report(payment.gateway, statements)
        await waits('from billing.payments')
        assert.deepEqual(await documentsOf(payment), [])
        return { asked }
      } finally {
        await holding.query('commit')
        holding.release()
      }
    }
    const exported = async ({ number }: Pick<Invoice, 'number'>) => {
      const lines = await exportedLines(world.billing.core, 'jsonl')
      const documents = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
      return documents.filter((one) => one['number'] === number)
    }

    const charge = () => world.billing.create({ amount })
    /** Of a period that is owed and has no document. */
    const ofPeriod = async () => {
      const { processing } = world.context
      const invoicing = { ...processing.invoicing, seller: null }
      const quiet = { ...world.context, processing: { ...processing, invoicing } }
      const terms = newSubscription({ amount: BigInt(amount) })
      const { payment } = await createSubscription(terms, '{}', quiet)
      assert.ok(payment)
      return payment
    }
    const isPeriod = { charge: false, period: true }
    const issued: string[] = []

    for (const what of ['charge', 'period'] as const) {
      for (const when of ['before', 'with the refund'] as const) {
        for (const part of [2_500n, BigInt(amount)]) {
          for (const [first, inOrder] of [
            ['the refund', reportFirst],
            ['the document', documentFirst],
          ] as const) {
            test(`of a ${what} paid ${when}, ${part} refunded: ${first} is first, the credit is there`, async () => {
              const { billing } = world
              const payment = await (isPeriod[what] ? ofPeriod() : charge())
              const back = refund(payment, `re_${payment.id}`, { amount: part })
              if (when === 'before') await billing.sayBy(payment.gateway, paid(payment))
              const statements = when === 'before' ? [back] : [paid(payment), back]
              const { asked } = await inOrder(payment, statements)
              const { id } = await asked
              await idle(billing.core)
              issued.push(id)
              assert.deepEqual(await billing.refunds(payment), [`paid ${part}`])
              const document = await billing.core.invoices.get(id)
              assert.equal(document?.status, 'paid')
              assert.deepEqual([document.total, document.credited], [BigInt(amount), part])
              assert.deepEqual(
                [document.paymentId, document.periodId],
                [payment.id, isPeriod[what] ? payment.periodId : null],
              )
              assert.deepEqual(await documentsOf(payment), [document])
              const [line, ...more] = await exported(document)
              assert.deepEqual(more, [])
              assert.deepEqual(
                [line?.['status'], line?.['total'], line?.['credited']],
                ['paid', amount, Number(part)],
              )
              await until(() => toldOf(id).length >= 2, { what: 'it is told' })
            })
          }
        }
      }
    }

    test('each of them was told once, issued before paid, and none has left a gap', async () => {
      assert.equal(issued.length, 16)
      for (const id of issued) assert.deepEqual(toldOf(id), ['InvoiceIssued', 'InvoicePaid'])
      const refunded = heard.filter(({ type }) => type === 'PaymentRefunded')
      assert.equal(refunded.length, 16)
      assert.equal(new Set(refunded.map(({ dedupKey }) => dedupKey)).size, 16)
      assert.deepEqual(await numbersIn(world.billing), upTo(16))
    })

    const toldOf = (id: string) =>
      heard.flatMap((event) => ('invoice' in event && event.invoice.id === id ? [event.type] : []))
  })
})
