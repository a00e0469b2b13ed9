import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { Service } from '../http/service.ts'
import { missing, openBrowser, pagesOrigin, visit } from './browser.ts'
import { createPayment, startPayerService } from './payer-service.ts'

/** Records what it is told and loads what the real one loads; `says` is what happens then. */
function paddleJs(says: string): string {
  return `
    window.calls = []
    window.Paddle = {
      Environment: { set: (name) => calls.push(['environment', name]) },
      Checkout: { open: (options) => calls.push(['open', options]) },
      Initialize(options) {
        calls.push(['initialize', options.token])
        const sheet = document.createElement('link')
        sheet.rel = 'stylesheet'
        sheet.href = 'https://sandbox-cdn.paddle.com/paddle/v2/assets/css/paddle.css'
        document.head.append(sheet)
        const frame = document.createElement('iframe')
        frame.className = 'paddle-frame paddle-frame-overlay'
        frame.title = 'Checkout'
        frame.src = 'https://sandbox-buy.paddle.com/checkout'
        document.body.append(frame)
        const say = (name, data) => options.eventCallback({ name, data })
        fetch('https://sandbox-api.paddle.com/ping').then(() => { ${says} })
      },
    }`
}

describe('the page that opens a Paddle checkout', { skip: missing }, () => {
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

  const serve = async (page: Page, script: string) => {
    const cors = { 'access-control-allow-origin': '*' }
    await page.route('https://*.paddle.com/**', (route) =>
      route.fulfill({ status: 200, contentType: 'text/html', headers: cors, body: '<p>pay</p>' }),
    )
    await page.route('https://sandbox-cdn.paddle.com/**', (route) =>
      route.fulfill({ status: 200, contentType: 'text/css', body: '' }),
    )
    await page.route('https://cdn.paddle.com/paddle/v2/paddle.js', (route) =>
      route.fulfill({ status: 200, contentType: 'text/javascript', body: script }),
    )
  }
  const opened = `${pagesOrigin}/billing/paddle/checkout?_ptxn=txn_01hv8wn`

  test('initialises the sandbox with the client token, and lets everything of it load', async () => {
    await using payer = await visit(browser)
    await serve(payer.page, paddleJs("say('checkout.loaded', {})"))
    await payer.page.goto(opened)
    await payer.page.getByText('The checkout is open.').waitFor()
    assert.deepEqual(await payer.page.evaluate('calls'), [
      ['environment', 'sandbox'],
      ['initialize', 'test_7d279f61'],
    ])
    const frame = await payer.page.locator('iframe').boundingBox()
    const size = payer.page.viewportSize()
    assert.deepEqual([frame?.width, frame?.height], [size?.width, size?.height])
    assert.deepEqual(payer.faults, [])
  })

  test('sends a payer who has paid on to the return page, which looks for itself', async () => {
    const { id } = await createPayment(service)
    await using payer = await visit(browser)
    const data = JSON.stringify({ status: 'completed', custom_data: { payment_id: id } })
    await serve(payer.page, paddleJs(`say('checkout.completed', ${data})`))
    await payer.page.goto(opened)
    await payer.page.waitForURL(`${pagesOrigin}/billing/return/${id}`)
    await payer.page.getByRole('heading', { name: 'Waiting for confirmation' }).waitFor()
    assert.deepEqual(payer.faults, [])
  })

  test('sends a payer on in the language of its address', async () => {
    const { id } = await createPayment(service)
    await using payer = await visit(browser)
    const data = JSON.stringify({ status: 'completed', custom_data: { payment_id: id } })
    await serve(payer.page, paddleJs(`say('checkout.completed', ${data})`))
    await payer.page.goto(`${opened}&lang=uk`)
    await payer.page.waitForURL(`${pagesOrigin}/billing/return/${id}?lang=uk`)
    await payer.page.getByRole('heading', { name: 'Очікуємо підтвердження' }).waitFor()
    assert.deepEqual(payer.faults, [])
  })

  test('goes nowhere by what is no payment of ours', async () => {
    await using payer = await visit(browser)
    const data = JSON.stringify({ custom_data: { payment_id: '../../elsewhere' } })
    await serve(payer.page, paddleJs(`say('checkout.completed', ${data})`))
    await payer.page.goto(opened)
    await payer.page.getByText('You can close this page').waitFor()
    assert.equal(payer.page.url(), opened)
  })

  test('opens a closed checkout again', async () => {
    await using payer = await visit(browser)
    const says =
      "say('checkout.closed', { status: 'draft' }); document.querySelector('iframe').remove()"
    await serve(payer.page, paddleJs(says))
    await payer.page.goto(opened)
    await payer.page.getByRole('button', { name: 'Open the checkout again' }).click()
    const calls = await payer.page.evaluate<readonly unknown[]>('calls')
    assert.deepEqual(calls.at(-1), ['open', { transactionId: 'txn_01hv8wn' }])
    assert.deepEqual(payer.faults, [])
  })

  test('a script that does not load is said, and can be tried again', async () => {
    await using payer = await visit(browser)
    await payer.page.route('https://cdn.paddle.com/**', (route) => route.abort())
    await payer.page.goto(opened)
    await payer.page.getByText('could not be loaded').waitFor()
    await serve(payer.page, paddleJs("say('checkout.loaded', {})"))
    await payer.page.getByRole('button', { name: 'Open the checkout again' }).click()
    await payer.page.getByText('The checkout is open.').waitFor()
  })

  test('nothing of anybody else may run, even if it got into the page', async () => {
    await using payer = await visit(browser)
    await serve(payer.page, paddleJs(''))
    await payer.page.goto(opened)
    await payer.page.evaluate(`{
      const foreign = document.createElement('script')
      foreign.src = 'https://evil.example/x.js'
      document.head.append(foreign)
      const inline = document.createElement('script')
      inline.textContent = 'window.ran = true'
      document.head.append(inline)
    }`)
    assert.equal(await payer.page.evaluate('window.ran'), undefined)
    assert.ok(payer.faults.some((text) => text.includes('evil.example')))
  })
})
