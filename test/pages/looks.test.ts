import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { Service } from '../http/service.ts'
import { missing, openBrowser, openLooker, pagesOrigin, type Looked } from './browser.ts'
import {
  createExpired,
  createPayment,
  createUnanswered,
  settle,
  startPayerService,
} from './payer-service.ts'

describe('every page, on a phone and a desktop, in light and dark', { skip: missing }, () => {
  let service: Service
  let browser: Browser
  before(async () => {
    service = await startPayerService({ url: pagesOrigin })
    browser = await openBrowser(service.listening.port)
  })
  after(async () => {
    await browser.close()
    await service[Symbol.asyncDispose]()
  })

  /** Looks at the pages of one test. */
  const looking = async (pages: readonly (Omit<Looked, 'url'> & { readonly path: string })[]) => {
    await using looker = await openLooker(browser)
    for (const { path, ...looked } of pages) {
      await looker.look({ ...looked, url: pagesOrigin + path })
    }
  }
  const paid = async () => {
    const { id } = await createPayment(service)
    await settle(service, id, 'success')
    return id
  }
  const failed = async () => {
    const { id } = await createPayment(service)
    await settle(service, id, 'failure')
    return id
  }
  const canceled = async () => {
    const { id } = await createPayment(service)
    await service.core.payments.cancel(id)
    return id
  }

  test('the payment link of a payment that is paid, canceled, expired or not payable', async () => {
    const none = await createPayment(service, { checkout: false })
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
    const { id } = await createPayment(service, { gateway: 'formpay' })
    // It would be posted before anybody has looked.
    const scripts = { '**/submit-form-*.js': '' }
    await looking([{ name: 'pay-form', path: `/billing/pay/${id}`, scripts }])
  })

  test('the return page in each status', async () => {
    const pending = await createPayment(service)
    await looking([
      { name: 'return-pending', path: `/billing/return/${pending.id}` },
      { name: 'return-paid', path: `/billing/return/${await paid()}` },
      { name: 'return-failed', path: `/billing/return/${await failed()}` },
      { name: 'return-canceled', path: `/billing/return/${await canceled()}` },
    ])
  })

  test('texts that are long or without spaces', async () => {
    const { id } = await createPayment(service, {
      amount: 9_007_199_254_740_991n,
      payable: { type: 'subscription', id: 'x'.repeat(200) },
      description: `${'w'.repeat(150)} ${'a very long description '.repeat(20)}`,
      returnUrl: 'http://localhost:3000/',
    })
    await looking([{ name: 'return-long', path: `/billing/return/${id}` }])
  })

  test('the checkout of the fake gateway', async () => {
    const pending = await createPayment(service)
    const path = '/billing/fake/checkout'
    await looking([
      { name: 'fake-pending', path: `${path}/${pending.id}` },
      { name: 'fake-refused', path: `${path}/${pending.id}?answer=403` },
      { name: 'fake-failed', path: `${path}/${await failed()}` },
      { name: 'fake-paid', path: `${path}/${await paid()}` },
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
        scripts: library(''),
      },
      { name: 'paddle-closed', path: '/billing/beta/checkout?_ptxn=txn_01h', scripts: closes },
      { name: 'paddle-wrong-link', path: '/billing/paddle/checkout', status: 400 },
    ])
  })
})
