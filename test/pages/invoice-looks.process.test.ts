import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { inspect } from 'node:util'
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

/** Of a colour as browsers compute it, from 0 to 255. */
function brightnessOf(color: string): number {
  const [red = NaN, green = NaN, blue = NaN] = [...color.matchAll(/\d+/g)].map(Number)
  return (red + green + blue) / 3
}

/** In points. ISO 32000, 7.7.3.3: each page is an object of this type, and says how large it is. */
function sheetsOf(pdf: Buffer): readonly { readonly width: number; readonly height: number }[] {
  const text = pdf.toString('latin1')
  const count = [...text.matchAll(/\/Type\s*\/Page\b/g)].length
  const boxes = [...text.matchAll(/\/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)\s*\]/g)]
  assert.ok(count > 0)
  assert.equal(boxes.length, count)
  return boxes.map(([, width, height]) => ({ width: Number(width), height: Number(height) }))
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

      /** A document of the provider's own, about a payment of ours. */
      const mirror = async (reference: string) => {
        const payment = await createPayment(service, {
          gateway: 'formpay',
          currency: 'EUR',
          amount: 9_900,
        })
        const said = {
          type: 'invoice',
          reference,
          status: 'paid',
          number: 'F-2026-77',
          url: `https://provider.example/invoices/${reference}`,
          payment: { id: payment.id },
          lines: [{ description: 'Gold, monthly', quantity: 1, amount: '9900' }],
        }
        const body = JSON.stringify([said])
        await service.post('/billing/webhooks/formpay', body, { 'x-stated': 'yes' })
        const worker = await service.core.work()
        const invoice = await eventually(async () => {
          const { data } = await service.core.invoices.list({ paymentId: payment.id })
          return data[0]
        })
        await worker.stop()
        return { payment, invoice }
      }

      test('on a dark screen its ground is dark and its text light', async () => {
        const { invoice } = await issue()
        await using visitor = await visit(browser, { locale })
        const { page } = visitor
        await page.goto(pagesOrigin + pathOf(invoice))
        const brightness = async (colorScheme: 'light' | 'dark') => {
          await page.emulateMedia({ colorScheme })
          const colors = await page.evaluate<readonly string[]>(`(() => {
            const { backgroundColor, color } = getComputedStyle(document.body)
            const paper = getComputedStyle(document.querySelector('main')).backgroundColor
            return [backgroundColor, paper, color]
          })()`)
          const [ground = 0, paper = 0, text = 0] = colors.map(brightnessOf)
          return { ground, paper, text }
        }
        const light = await brightness('light')
        const dark = await brightness('dark')
        assert.ok(light.text < 64 && light.ground > 192 && light.paper > 192, inspect(light))
        assert.ok(dark.text > 192 && dark.ground < 64 && dark.paper < 64, inspect(dark))
      })

      test("texts that are long or without spaces, and a provider's", async () => {
        const amount = 9_007_199_254_740_991
        const description = `${'w'.repeat(150)} ${'a very long description '.repeat(14)}`
        const long = await issue({ lines: [{ description, amount }] }, amount)
        const mirrored = await mirror('in_1')
        await looking([
          { name: 'invoice-long', path: pathOf(long.invoice) },
          { name: 'invoice-of-provider', path: pathOf(mirrored.invoice) },
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
        const refunded = await issue()
        await settle(service, refunded.payment.id, 'success')
        await service.core.refunds.create(refunded.payment.id, { amount: 36_000 })
        const printed = { short, long, void: voided, refunded, provider: await mirror('in_2') }
        await using visitor = await visit(browser, { locale, colorScheme: 'dark' })
        const { page } = visitor
        for (const [name, { invoice }] of Object.entries(printed)) {
          await page.goto(pagesOrigin + pathOf(invoice))
          await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
          const colors = await page.evaluate<readonly string[]>(`[
            getComputedStyle(document.querySelector('h1')).color,
            getComputedStyle(document.body).backgroundColor]`)
          assert.deepEqual(colors, ['rgb(0, 0, 0)', 'rgba(0, 0, 0, 0)'])
          const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: false })
          const sheets = sheetsOf(pdf)
          assert.equal(sheets.length > 1, name === 'long', name)
          for (const { width, height } of sheets) {
            assert.ok(
              Math.abs(width - 595) <= 1 && Math.abs(height - 842) <= 1,
              `${width} ${height}`,
            )
          }
          mkdirSync(reports, { recursive: true })
          writeFileSync(`${reports}${language}-invoice-${name}.pdf`, pdf)
        }
        assert.deepEqual(visitor.faults, [])
      })
    },
  )
}
