import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { BillingOptions } from '../../src/billing/options.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { IssueInvoiceInput } from '../../src/money/invoice-input.ts'
import { eventually, type Service } from '../http/service.ts'
import { missing, openBrowser, openLooker, pagesOrigin, visit, type Looked } from './browser.ts'
import { createPayment, settle, startPayerService } from './payer-service.ts'

const reports = fileURLToPath(new URL('../../reports/pages/', import.meta.url))

const seller = {
  name: 'Кав’ярня «Під липою»',
  address: ['вул. Хрещатик, 12', '01001 Київ'],
  taxId: '1234567890',
  registrationNumber: '40123456',
  email: 'hello@cafe.example',
  bankDetails: ['IBAN UA21 3223 1300 0002 6007 2335 6600 1', 'АТ «Банк»'],
  note: 'Дякуємо, що обираєте нас!',
}

const wanted: IssueInvoiceInput = {
  lines: [
    { description: 'Кава в зернах «Ефіопія Їргачеффе», 1 кг', quantity: 2, amount: 98_000 },
    { description: 'Фільтри паперові, 100 шт.', quantity: 3, amount: 36_000 },
    { description: 'Знижка постійного покупця', amount: -9_000 },
  ],
  buyer: {
    name: 'Олена Коваль',
    address: ['вул. Городоцька, 7, кв. 3', '79007 Львів'],
    email: 'olena@example.com',
  },
}

const cafe: NonNullable<BillingOptions['brand']> = {
  name: seller.name,
  color: '#7a3e1d',
  support: 'hello@cafe.example',
}

for (const [locale, brand] of [
  ['uk-UA', cafe],
  ['en-US', {}],
] as const) {
  describe(
    `documents for ${locale}, on a phone and a desktop, in light and dark`,
    {
      skip: missing,
    },
    () => {
      let service: Service
      let browser: Browser
      before(async () => {
        service = await startPayerService({
          url: pagesOrigin,
          brand,
          invoices: { seller, dueDays: 14, timeZone: 'Europe/Kyiv' },
        })
        browser = await openBrowser(service.listening.port)
      })
      after(async () => {
        await browser.close()
        await service[Symbol.asyncDispose]()
      })

      const language = locale.slice(0, 2)
      const looking = async (
        pages: readonly (Omit<Looked, 'url'> & { readonly path: string })[],
      ) => {
        await using looker = await openLooker(browser, { locale })
        for (const { path, name, ...looked } of pages) {
          await looker.look({ ...looked, name: `${language}-${name}`, url: pagesOrigin + path })
        }
      }
      const issue = async (input: IssueInvoiceInput = wanted, amount = 125_000) => {
        const payment = await createPayment(service, { currency: 'EUR', amount })
        return { payment, invoice: await service.core.invoices.issue(payment.id, input) }
      }
      const pathOf = ({ id }: { readonly id: string }) => `/billing/invoices/${id}`

      test('one that is owed, paid, refunded in part, void or not there', async () => {
        const owed = await issue()
        const paid = await issue()
        await settle(service, paid.payment.id, 'success')
        const voided = await issue()
        await service.core.invoices.void(voided.invoice.id)
        await looking([
          { name: 'invoice-owed', path: pathOf(owed.invoice) },
          { name: 'invoice-paid', path: pathOf(paid.invoice) },
          { name: 'invoice-void', path: pathOf(voided.invoice) },
          { name: 'invoice-unknown', path: pathOf({ id: newUuid() }), status: 404 },
        ])
        await service.core.refunds.create(paid.payment.id, { amount: 36_000 })
        await looking([{ name: 'invoice-refunded', path: pathOf(paid.invoice) }])
      })

      test("texts that are long or without spaces, and a provider's", async () => {
        const amount = 9_007_199_254_740_991
        const description = `${'w'.repeat(150)} ${'a very long description '.repeat(14)}`
        const long = await issue({ lines: [{ description, amount }] }, amount)
        const payment = await createPayment(service, {
          gateway: 'formpay',
          currency: 'EUR',
          amount: 9_900,
        })
        const said = {
          type: 'invoice',
          reference: 'in_1',
          status: 'paid',
          number: 'F-2026-77',
          url: 'https://provider.example/invoices/in_1',
          payment: { id: payment.id },
          lines: [{ description: 'Gold, monthly', quantity: 1, amount: '9900' }],
        }
        const body = JSON.stringify([said])
        await service.post('/billing/webhooks/formpay', body, { 'x-stated': 'yes' })
        const worker = await service.core.work()
        const mirrored = await eventually(async () => {
          const { data } = await service.core.invoices.list({ paymentId: payment.id })
          return data[0]
        })
        await worker.stop()
        await looking([
          { name: 'invoice-long', path: pathOf(long.invoice) },
          { name: 'invoice-of-provider', path: pathOf(mirrored) },
        ])
      })

      test('printed, it is black on white on A4, from a dark screen, too', async () => {
        const many = Array.from({ length: 40 }, (_, at) => ({
          description: `Line ${at + 1}`,
          amount: 1_000,
        }))
        const short = await issue()
        const voided = await issue()
        await service.core.invoices.void(voided.invoice.id)
        const long = await issue({ ...wanted, lines: many }, 40_000)
        await using visitor = await visit(browser, { locale, colorScheme: 'dark' })
        const { page } = visitor
        for (const [name, { invoice }] of Object.entries({ short, long, void: voided })) {
          await page.goto(pagesOrigin + pathOf(invoice))
          await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
          const colors = await page.evaluate<readonly string[]>(`[
            getComputedStyle(document.querySelector('h1')).color,
            getComputedStyle(document.body).backgroundColor]`)
          assert.deepEqual(colors, ['rgb(0, 0, 0)', 'rgba(0, 0, 0, 0)'])
          const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: false })
          // ISO 32000, 7.7.3.3: each page is an object of this type.
          const sheets = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g) ?? []
          assert.equal(sheets.length > 1, name === 'long', name)
          mkdirSync(reports, { recursive: true })
          writeFileSync(`${reports}${language}-invoice-${name}.pdf`, pdf)
        }
        assert.deepEqual(visitor.faults, [])
      })
    },
  )
}
