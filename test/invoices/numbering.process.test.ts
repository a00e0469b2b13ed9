import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { suite, test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import { newPayment, openBilling, sendFake, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase, postgres } from '../support/databases.ts'
import { openStated } from '../support/stated-billing.ts'
import { startProcess } from '../support/process.ts'
import { refund } from '../support/statements.ts'
import { until } from '../support/until.ts'
import { number, type Numbering } from './numbering-program.ts'
import { issuing, numbersIn, upTo } from './sellers.ts'

const file = fileURLToPath(new URL('numbering-program.ts', import.meta.url))

/** Rows of payments that nobody asks a provider for. */
async function addPayments({ database }: TestBilling, count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => newUuid())
  await sql`insert into billing.payments (id, gateway, amount, currency, payable_type, payable_id)
    select id, 'fake', 100, 'USD', 'order', '1' from unnest(${ids}::uuid[]) as given (id)`.execute(
    database.db,
  )
  return ids
}

onAnyDatabase((engine) => {
  suite('numbers of documents', { concurrency: 1 }, () => {
    const isServer = engine === postgres
    const all = isServer ? 500 : 120

    test(`55: ${all} documents at once, some rolled back, are numbered from 1 on without a gap`, async () => {
      await using billing = await openBilling(engine)
      const ids = await addPayments(billing, all)
      const own = { paymentIds: ids, undone: all / 5 }
      const { url } = billing
      if (url === undefined) {
        const { dataDir } = billing.runtime.settings.database
        await number({ ...own, database: { dataDir, attach: true } })
      } else {
        const share = all / 4
        const endings = [0, 1, 2, 3].map((at) => {
          const paymentIds = ids.slice(at * share, (at + 1) * share)
          const told: Numbering = { database: { url }, paymentIds, undone: share / 5 }
          return startProcess([], { file, env: { NUMBERING: JSON.stringify(told) } }).ended
        })
        for (const { stdout, stderr } of await Promise.all(endings)) {
          assert.match(stdout.join(), /done/, stderr.join('\n'))
        }
      }
      assert.deepEqual(await numbersIn(billing), upTo(all))
    })

    test('56: a listener hangs in its transaction, and numbering goes on', async () => {
      const [entered, hanging] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      await using billing = await openStated(engine, {
        invoices: issuing,
        listen: ({ core }) =>
          core.on('PaymentSucceeded', 'hangs', async () => {
            entered.resolve()
            await hanging.promise
          }),
      })
      const held = await newPayment(billing.core, { gateway: 'fake', live: true })
      await billing.core.invoices.issue(held.id)
      await sendFake(billing.core, held.id, 'success')
      await entered.promise
      const others = isServer ? await addPayments(billing, 20) : []
      const issued = others.map((id) => billing.core.invoices.issue(id))
      if (isServer) {
        // While it hangs: its transaction marks a document, and holds no series.
        assert.equal((await Promise.all(issued)).length, 20)
        assert.equal((await billing.core.invoices.list({ status: 'paid' })).data.length, 0)
      }
      hanging.resolve()
      await until(
        async () => (await billing.core.invoices.list({ status: 'paid' })).data.length === 1,
        { what: 'the document is paid' },
      )
      assert.deepEqual(await numbersIn(billing), upTo(others.length + 1))
    })

    test('a document issued while its payment is refunded shows the credit, in whatever order', async () => {
      await using billing = await openStated(engine, { invoices: issuing })
      for (let round = 0; round < 6; round += 1) {
        const payment = await billing.createPaid({ amount: 10_000 })
        const refunding = billing.say(refund(payment, `re_${payment.id}`, { amount: 2_500n }))
        const [issued] = await Promise.all([billing.core.invoices.issue(payment.id), refunding])
        const invoice = await billing.core.invoices.get(issued.id)
        assert.equal(invoice?.status, 'paid')
        assert.equal(invoice.total, 10_000n)
        assert.equal(invoice.credited, 2_500n)
      }
      assert.deepEqual(await numbersIn(billing), upTo(6))
    })

    test('paid while its document is issued, it is paid and told once, in whatever order', async () => {
      await using billing = await openStated(engine, { invoices: issuing })
      for (let round = 0; round < 6; round += 1) {
        const payment = await billing.create({ amount: 10_000 })
        const { id, amount, currency } = payment
        const paying = billing.say({
          type: 'payment',
          payment: { id },
          status: 'paid',
          amount,
          currency,
        })
        const [issued] = await Promise.all([billing.core.invoices.issue(id), paying])
        assert.equal((await billing.core.invoices.get(issued.id))?.status, 'paid')
      }
      const { data } = await billing.core.events.list({ type: 'PaymentSucceeded', limit: 100 })
      assert.equal(data.length, 6)
      await until(
        async () =>
          (await billing.core.events.list({ type: 'InvoicePaid', limit: 100 })).data.length === 6,
        { what: 'six documents are told to be paid' },
      )
    })
  })
})
