import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { html } from 'hono/html'
import type { Browser } from 'playwright-core'
import type { BillingOptions } from '../../src/billing/options.ts'
import { page } from '../../src/http/pages/layout.ts'
import { en } from '../../src/http/pages/languages/en.ts'
import { sayIn } from '../../src/http/pages/languages/texts.ts'
import { linkButton } from '../../src/http/pages/payment-view.ts'
import type { Service } from '../http/service.ts'
import { missing, openBrowser, openLooker, pagesOrigin, visit, type Looked } from './browser.ts'
import {
  createExpired,
  createPayment,
  createUnanswered,
  saveTestCard,
  settle,
  startPayerService,
  subscribe,
} from './payer-service.ts'

type Brand = NonNullable<BillingOptions['brand']>

const mark = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40" width="40" height="40">
  <circle cx="20" cy="20" r="18" fill="#1c2430"/></svg>`
const logo = 'https://files.shop.example.test/logo.svg'
const files = { [logo]: { body: mark, contentType: 'image/svg+xml' } }

const english = { tag: 'en', say: sayIn(en), query: '' } as const

const cafe: Brand = {
  name: 'Кав’ярня «Під липою»',
  logo,
  color: '#f5a800',
  support: '+380 44 123 45 67',
}
const looks: readonly (readonly [locale: string, whose: string, brand: Brand])[] = [
  ['en-US', 'nobody in particular', {}],
  ['uk-UA', 'a brand', cafe],
]

for (const [locale, whose, brand] of looks) {
  const title = `every page of ${whose} for ${locale}, on a phone and a desktop, in light and dark`
  describe(title, { skip: missing }, () => {
    let service: Service
    let browser: Browser
    before(async () => {
      service = await startPayerService({ url: pagesOrigin, brand })
      browser = await openBrowser(service.listening.port)
    })
    after(async () => {
      await browser.close()
      await service[Symbol.asyncDispose]()
    })

    /** Looks at the pages of one test. */
    const looking = async (pages: readonly (Omit<Looked, 'url'> & { readonly path: string })[]) => {
      await using looker = await openLooker(browser, { locale })
      for (const { path, name, served, ...looked } of pages) {
        await looker.look({
          ...looked,
          name: `${locale.slice(0, 2)}-${name}`,
          served: { ...files, ...served },
          url: pagesOrigin + path,
        })
      }
    }
    // Not in hryvnias, which would suggest a language.
    const create = (input: Parameters<typeof createPayment>[1] = {}) =>
      createPayment(service, { currency: 'EUR', ...input })
    const paid = async () => {
      const { id } = await create()
      await settle(service, id, 'success')
      return id
    }
    const partlyRefunded = async () => {
      const id = await paid()
      await service.core.refunds.create(id, { amount: 500 })
      return id
    }
    const failed = async () => {
      const { id } = await create()
      await settle(service, id, 'failure')
      return id
    }
    const canceled = async () => {
      const { id } = await create()
      await service.core.payments.cancel(id)
      return id
    }

    test('the payment link of a payment that is paid, canceled, expired or not payable', async () => {
      const none = await create({ checkout: false })
      await looking([
        { name: 'pay-paid', path: `/billing/pay/${await paid()}` },
        { name: 'pay-canceled', path: `/billing/pay/${await canceled()}` },
        { name: 'pay-expired', path: `/billing/pay/${await createExpired(service)}` },
        { name: 'pay-not-ready', path: `/billing/pay/${await createUnanswered(service)}` },
        { name: 'pay-no-checkout', path: `/billing/pay/${none.id}` },
        { name: 'unknown', path: '/billing/pay/0199a000-0000-7000-8000-0000000000ff', status: 404 },
      ])
    })

    test('the form that is posted to the provider', async () => {
      const { id } = await create({ gateway: 'formpay' })
      // It would be posted before anybody has looked.
      const served = { '**/submit-form-*.js': '' }
      await looking([{ name: 'pay-form', path: `/billing/pay/${id}`, served }])
    })

    test('the return page in each status', async () => {
      const pending = await create()
      await looking([
        { name: 'return-pending', path: `/billing/return/${pending.id}` },
        { name: 'return-paid', path: `/billing/return/${await paid()}` },
        { name: 'return-partly-refunded', path: `/billing/return/${await partlyRefunded()}` },
        { name: 'return-failed', path: `/billing/return/${await failed()}` },
        { name: 'return-canceled', path: `/billing/return/${await canceled()}` },
      ])
    })

    test('texts that are long or without spaces', async () => {
      const amount = 9_007_199_254_740_991n
      const description = `${'w'.repeat(150)} ${'a very long description '.repeat(20)}`
      const { id } = await create({ amount, description, returnUrl: 'http://localhost:3000/' })
      const { subscription } = await subscribe(service, { amount, description })
      await looking([
        { name: 'return-long', path: `/billing/return/${id}` },
        { name: 'subscription-long', path: `/billing/subscriptions/${subscription.id}/pay` },
      ])
    })

    test('the checkout of the fake gateway', async () => {
      const pending = await create()
      const saving = await create({ saveCard: true })
      const path = '/billing/fake/checkout'
      await looking([
        { name: 'fake-pending', path: `${path}/${pending.id}` },
        { name: 'fake-saves-card', path: `${path}/${saving.id}` },
        { name: 'fake-refused', path: `${path}/${pending.id}?answer=403` },
        { name: 'fake-failed', path: `${path}/${await failed()}` },
        { name: 'fake-paid', path: `${path}/${await paid()}` },
      ])
    })

    test('the pay page of a subscription in each state', async () => {
      const paymentMethodId = await saveTestCard(service)
      const made = async (input: Parameters<typeof subscribe>[1] = {}) =>
        (await subscribe(service, input)).subscription.id
      const active = await made({ paymentMethodId })
      const paused = await made({ paymentMethodId })
      await service.core.subscriptions.pause(paused, { at: 'now' })
      const ended = await made({ paymentMethodId })
      await service.core.subscriptions.cancel(ended, { at: 'now' })
      // Its trial is over, and the first charge was declined.
      const due = await made({ paymentMethodId, amount: 14_901, trialDays: 14 })
      await service.core.subscriptions.change(due, { trialEndsAt: new Date() })
      await service.core.subscriptions.runDue()
      const path = (id: string) => `/billing/subscriptions/${id}/pay`
      await looking([
        { name: 'subscription-due', path: path(due) },
        { name: 'subscription-owed', path: path(await made()) },
        { name: 'subscription-trial', path: path(await made({ trialDays: 14 })) },
        {
          name: 'subscription-confirm',
          path: path(await made({ paymentMethodId, amount: 14_904 })),
        },
        {
          name: 'subscription-charging',
          path: path(await made({ paymentMethodId, amount: 14_907 })),
        },
        { name: 'subscription-paid', path: path(active) },
        { name: 'subscription-paused', path: path(paused) },
        { name: 'subscription-ended', path: path(ended) },
        {
          name: 'subscription-unknown',
          path: path('0199a000-0000-7000-8000-0000000000ff'),
          status: 404,
        },
      ])
    })

    test('the page that opens a checkout by the provider’s script', async () => {
      const library = (onInitialize: string) => ({
        'https://cdn.paddle.com/**': `window.Paddle = {
          Environment: { set() {} }, Initialize({ eventCallback }) { ${onInitialize} } }`,
      })
      const closes = library("eventCallback({ name: 'checkout.closed' })")
      await looking([
        {
          name: 'paddle-opening',
          path: '/billing/paddle/checkout?_ptxn=txn_01h',
          served: library(''),
        },
        { name: 'paddle-closed', path: '/billing/beta/checkout?_ptxn=txn_01h', served: closes },
        { name: 'paddle-wrong-link', path: '/billing/paddle/checkout', status: 400 },
      ])
    })

    test('opened details', async () => {
      const { id } = await create()
      await using payer = await visit(browser, { locale })
      await payer.page.goto(`${pagesOrigin}/billing/fake/checkout/${id}`)
      assert.equal(await payer.page.getByText(id).isVisible(), false)
      await payer.page.locator('summary').click()
      assert.equal(await payer.page.getByText(id).isVisible(), true)
    })
  })
}

describe('the main button in a brand’s colour', { skip: missing }, () => {
  const colors = ['#fff', '#000', '#ffe600', '#0b6b3a', '#d6336c', '#777', '#1b212a']
  test('can be read, in light and dark, whatever the colour', async () => {
    await using browser = await openBrowser(0)
    await using looker = await openLooker(browser, { locale: 'en' })
    for (const color of colors) {
      const answer = await page(
        { language: english, brand: { name: color, color }, allows: () => true },
        {
          title: color,
          body: html`<h1>${color}</h1>
            ${linkButton('/', 'Continue')}`,
        },
      )
      const url = `${pagesOrigin}/${color.slice(1)}`
      const served = { [url]: { body: await answer.text(), contentType: 'text/html' } }
      await looker.look({ name: `color-${color.slice(1)}`, url, served })
    }
  })
})
