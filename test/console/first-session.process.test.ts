import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { missing, openBrowser, visit } from '../pages/browser.ts'
import { startStripe, type StripeStandIn } from '../providers/stripe.ts'
import { consolePath, signInPath } from './console-service.ts'
import { openConsole, type OpenConsole } from './filled-console.ts'

describe('a first session at the console, without a terminal', { skip: missing }, () => {
  let provider: StripeStandIn
  let console: OpenConsole
  let browser: Browser
  before(async () => {
    provider = await startStripe()
    console = await openConsole({
      gateways: { stripe: provider.config },
      listen: ({ core }) => {
        core.on('PaymentSucceeded', 'grantAccess', () => {}, { queued: true })
        core.on('PaymentFailed', 'tellPayer', ({ payment }) => {
          if (payment.gateway === 'fake') throw new Error('no mail server is set')
        })
      },
    })
    browser = await openBrowser(console.server.port)
  })
  after(async () => {
    await browser.close()
    await console[Symbol.asyncDispose]()
    await provider.close()
  })

  const at = (path: string) => console.origin + consolePath + path
  const signedIn = async (options: Parameters<typeof visit>[1] = {}) => {
    const visitor = await visit(browser, options)
    await visitor.page.goto(console.link())
    assert.equal(visitor.page.url(), at(''))
    return visitor
  }

  /** By the forms alone; the id of the payment. */
  async function createPayment(page: Page, gateway: string): Promise<string> {
    await page.goto(at('/payments'))
    await page.getByRole('link', { name: 'Create a test payment' }).click()
    const form = formOf(page)
    await form.locator('select[name=gateway]').selectOption(gateway)
    await form.locator('input[name=currency]').fill('USD')
    await form.locator('button.go').click()
    await page.waitForURL(/done=payment_created/)
    return new URL(page.url()).pathname.split('/').at(-1) ?? ''
  }

  /** From the page of the payment; leads to the page of the stored call. */
  async function sendCallback(page: Page, scenario: string): Promise<void> {
    await page.getByRole('link', { name: 'Send a test callback' }).click()
    const form = formOf(page)
    await form.locator('select[name=scenario]').selectOption(scenario)
    await form.locator('button.go').click()
    await page.waitForURL(/\/calls\/.*done=callback_sent/)
  }

  /** On a page of its own, or above the page where scripts run. */
  const formOf = (page: Page) => page.locator('form[method=post]:has(button.go)')
  const mainOf = (page: Page) => page.locator('main').innerText()
  const statusOf = async (id: string) => (await console.billing.core.payments.get(id))?.status

  test('by the link, a payment is made, a callback sent, and what its listener threw is shown', async () => {
    await using visitor = await signedIn()
    const { page } = visitor
    const id = await createPayment(page, 'fake')
    await sendCallback(page, 'failure')
    assert.match(await mainOf(page), /tellPayer.*no mail server is set/s)
    assert.equal(await statusOf(id), 'failed')
    await page.locator(`a[href$="/payments/${id}"]`).first().click()
    await sendCallback(page, 'success')
    assert.match(await mainOf(page), /payment:paid: applied/)
    assert.equal(await statusOf(id), 'paid')
    await page.goto(at(`/payments/${id}`))
    await page.locator('#timeline', { hasText: 'grantAccess: ok' }).waitFor()
    assert.deepEqual(visitor.faults, [])
  })

  test('so it is for a gateway that signs, and without scripts', async () => {
    await using visitor = await signedIn({ javaScriptEnabled: false })
    const { page } = visitor
    const id = await createPayment(page, 'stripe')
    await sendCallback(page, 'paid')
    const [call] = (await console.billing.core.calls.list({ gateway: 'stripe' })).data
    assert.equal(new URL(page.url()).pathname, `${consolePath}/calls/${call?.id}`)
    assert.match(await mainOf(page), /payment:paid: applied/)
    // It was taken as one of Stripe is: its signature was there, and is not shown.
    assert.match(await mainOf(page), /stripe-signature\s+\[?(?:redacted|masked|\*)/i)
    assert.equal(await statusOf(id), 'paid')
    assert.deepEqual(visitor.faults, [])
  })

  test('a link that has signed in signs nobody else in', async () => {
    const link = console.link()
    await using first = await visit(browser)
    await first.page.goto(link)
    assert.equal(first.page.url(), at(''))
    await using second = await visit(browser)
    assert.equal((await second.page.goto(link))?.status(), 403)
    assert.match(await mainOf(second.page), /no longer signs in/)
    await second.page.goto(at('/payments'))
    assert.ok(second.page.url().startsWith(console.origin + signInPath))
  })
})
