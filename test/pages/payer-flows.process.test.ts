import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { eventually, type Service } from '../http/service.ts'
import { startStandIn, type StandIn } from '../support/stand-in.ts'
import { missing, openBrowser, pagesOrigin, visit, type Visit } from './browser.ts'
import {
  createExpired,
  createPayment,
  form,
  settle,
  shop,
  startPayerService,
  workUntil,
} from './payer-service.ts'

const withoutScripts: BrowserContextOptions = { javaScriptEnabled: false }

describe('a payer in a browser', { skip: missing }, () => {
  let service: Service
  let provider: StandIn
  let browser: Browser
  before(async () => {
    // A stand-in for everybody else's site: it shows what it was asked, and the WayForPay-like form.
    provider = await startStandIn(({ target }) => ({
      headers: { 'content-type': 'text/html' },
      body: target.startsWith('/back/')
        ? backForm(target.slice('/back/'.length))
        : page('Provider'),
    }))
    service = await startPayerService({ url: pagesOrigin })
    browser = await openBrowser(service.listening.port)
  })
  after(async () => {
    await browser.close()
    await service[Symbol.asyncDispose]()
    await provider.close()
  })

  const enter = async (path: string, options: BrowserContextOptions = {}): Promise<Visit> => {
    const entered = await visit(browser, options)
    await entered.page.goto(pagesOrigin + path)
    return entered
  }
  const statusOf = async (id: string) => (await service.core.payments.get(id))?.status
  const typesOf = async (id: string) =>
    (await service.core.events.list({ paymentId: id })).data.map(({ type }) => type).sort()

  test('pays by the link: the webhook comes while the return page is open, which turns', async () => {
    const { id } = await createPayment(service)
    await using payer = await enter(`/billing/pay/${id}`)
    const { page } = payer
    assert.equal(page.url(), `${pagesOrigin}/billing/fake/checkout/${id}`)
    await page.getByRole('button', { name: 'Pay' }).click()
    await heading(page, 'Waiting for confirmation')
    assert.equal(page.url(), `${pagesOrigin}/billing/return/${id}`)
    await page.evaluate('window.stayed = true')
    await page.getByRole('link', { name: 'Return to shop.example.test' }).focus()
    await workUntil(service, id, 'paid')
    await heading(page, 'Paid')
    assert.equal(await page.title(), 'Paid')
    assert.equal(await page.evaluate('window.stayed'), true, 'it was not loaded again')
    const held = await page.evaluate('document.activeElement.textContent')
    assert.equal(held, 'Return to shop.example.test')
    const back = page.getByRole('link', { name: 'Return to shop.example.test' })
    assert.equal(await back.getAttribute('href'), `${shop}/thanks?order=42`)
    assert.deepEqual(payer.faults, [])
    assert.deepEqual(await typesOf(id), [
      'CheckoutReturned',
      'PaymentLinkOpened',
      'PaymentSucceeded',
    ])
  })

  test('reads the language that was chosen, also when the page turns', async () => {
    const { id } = await createPayment(service, { currency: 'EUR' })
    await using payer = await enter(`/billing/pay/${id}?lang=uk`)
    const { page } = payer
    await page.getByRole('button', { name: 'Оплатити' }).click()
    await heading(page, 'Очікуємо підтвердження')
    await page.evaluate('window.stayed = true')
    await workUntil(service, id, 'paid')
    await heading(page, 'Оплачено')
    assert.equal(await page.title(), 'Оплачено')
    assert.equal(await page.evaluate('window.stayed'), true, 'it was not loaded again')
    assert.deepEqual(payer.faults, [])
  })

  test('pays without JavaScript: the return page looks again by itself', async () => {
    const { id } = await createPayment(service)
    await using payer = await enter(`/billing/pay/${id}`, withoutScripts)
    await payer.page.getByRole('button', { name: 'Pay' }).click()
    await heading(payer.page, 'Waiting for confirmation')
    await workUntil(service, id, 'paid')
    await heading(payer.page, 'Paid')
    assert.deepEqual(payer.faults, [])
  })

  test('comes back after the webhook: the page says paid at once, and so does the link', async () => {
    const { id } = await createPayment(service)
    await settle(service, id, 'success')
    await using payer = await enter(`/billing/return/${id}`)
    await heading(payer.page, 'Paid')
    await payer.page.goto(`${pagesOrigin}/billing/pay/${id}`)
    await heading(payer.page, 'Already paid')
    assert.deepEqual(payer.faults, [])
  })

  test('leaves before the webhook and comes again when it was there', async () => {
    const { id } = await createPayment(service)
    {
      await using payer = await enter(`/billing/return/${id}`)
      await heading(payer.page, 'Waiting for confirmation')
    }
    await settle(service, id, 'success')
    await using payer = await enter(`/billing/return/${id}`)
    await heading(payer.page, 'Paid')
  })

  test('is declined, tries again and pays', async () => {
    const { id } = await createPayment(service)
    await using payer = await enter(`/billing/pay/${id}`)
    const { page } = payer
    await page.getByRole('button', { name: 'Decline' }).click()
    await workUntil(service, id, 'failed')
    await heading(page, 'Payment declined')
    await page.getByRole('link', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Pay' }).click()
    // Until the second webhook is processed the first one still counts.
    await heading(page, 'Payment declined')
    await workUntil(service, id, 'paid')
    await heading(page, 'Paid')
    assert.equal(await page.getByRole('link', { name: 'Try again' }).count(), 0)
    assert.deepEqual(payer.faults, [])
  })

  test('finds a canceled and an expired link closed', async () => {
    const canceled = await createPayment(service)
    await service.core.payments.cancel(canceled.id)
    await using payer = await enter(`/billing/pay/${canceled.id}`)
    await heading(payer.page, 'Payment canceled')
    await payer.page.goto(`${pagesOrigin}/billing/pay/${await createExpired(service)}`)
    await heading(payer.page, 'Link expired')
    assert.deepEqual(payer.faults, [])
  })

  for (const [how, options] of [
    ['by itself', {}],
    ['at a press without JavaScript', withoutScripts],
  ] as const) {
    test(`gets to a provider that wants a form posted, ${how}`, async () => {
      form.action = `${provider.base}/checkout`
      const { id } = await createPayment(service, { gateway: 'formpay' })
      await using payer = await enter(`/billing/pay/${id}`, options)
      if (options === withoutScripts) {
        await payer.page.getByRole('button', { name: 'Continue to Formpay' }).click()
      }
      await heading(payer.page, 'Provider')
      const posted = provider.requests.find(({ body }) => body.includes(id))
      assert.equal(posted?.method, 'POST')
      assert.equal(posted.target, '/checkout')
      assert.deepEqual(Object.fromEntries(new URLSearchParams(posted.body)), {
        ...form.fields,
        order: id,
        amount: '125000',
      })
      assert.equal(posted.headers.referer, undefined, 'the link is nobody else’s to know')
      assert.deepEqual(payer.faults, [])
    })
  }

  test('who goes back from the provider stays on our page', async () => {
    form.action = `${provider.base}/checkout`
    const { id } = await createPayment(service, { gateway: 'formpay' })
    await using payer = await visit(browser)
    const scripts = '**/submit-form-*.js'
    await payer.page.route(scripts, (route) => route.fulfill({ body: '' }))
    await payer.page.goto(`${pagesOrigin}/billing/pay/${id}`)
    await payer.page.getByRole('button').click()
    await heading(payer.page, 'Provider')
    await payer.page.unroute(scripts)
    await payer.page.goBack({ waitUntil: 'networkidle' })
    await heading(payer.page, 'Your payment')
  })

  test('fields posted to the return page by another site change nothing', async () => {
    const { id } = await createPayment(service)
    await using payer = await visit(browser)
    await payer.page.goto(`${provider.base}/back/${id}`)
    await payer.page.getByRole('button', { name: 'Back to the shop' }).click()
    await heading(payer.page, 'Waiting for confirmation')
    assert.equal(payer.page.url(), `${pagesOrigin}/billing/return/${id}`)
    await payer.page.reload()
    await heading(payer.page, 'Waiting for confirmation')
    assert.equal(await statusOf(id), 'pending')
    const { data } = await service.core.calls.list({ paymentId: id })
    assert.deepEqual(data, [])
    await eventually(async () => ((await typesOf(id)).length > 0 ? true : undefined))
    assert.deepEqual(await typesOf(id), ['CheckoutReturned'])
    assert.deepEqual(payer.faults, [])
  })

  test('a stream that is refused leaves the page looking again by itself', async () => {
    const { id } = await createPayment(service)
    await using payer = await visit(browser)
    await payer.page.clock.install()
    await payer.page.route('**/status', (route) => route.fulfill({ status: 503, body: '' }))
    await payer.page.goto(`${pagesOrigin}/billing/return/${id}`)
    await heading(payer.page, 'Waiting for confirmation')
    await settle(service, id, 'success')
    await eventually(async () => {
      await payer.page.clock.runFor(10_000)
      return (await payer.page.title()) === 'Paid' ? true : undefined
    })
  })
})

async function heading(page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
}

function page(heading: string, body = ''): string {
  return `<!doctype html><html lang="en"><title>${heading}</title><link rel="icon" href="data:,">
    <h1>${heading}</h1>${body}`
}

/** What some providers send the payer's browser back with: signed fields, by POST. */
function backForm(id: string): string {
  const fields = { orderReference: id, transactionStatus: 'Approved', merchantSignature: 'x' }
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
  )
  return page(
    'Done',
    `<form method="post" action="${pagesOrigin}/billing/return/${id}?status=paid">${inputs.join('')}
      <button>Back to the shop</button></form>`,
  )
}
