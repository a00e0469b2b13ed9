import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { missing, openBrowser, openLooker, visit, type Visit } from '../pages/browser.ts'
import { embedded } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { rowsOf, startExample, type RunningExample } from './example.ts'
import { passTime } from './pass-time.ts'

describe('examples/subscription-shop in a browser', { skip: missing }, () => {
  let example: RunningExample
  let browser: Browser
  before(async () => {
    example = await startExample('examples/subscription-shop/shop.ts', embedded)
    browser = await openBrowser(0)
  })
  after(async () => {
    await browser.close()
    await example[Symbol.asyncDispose]()
  })

  const go = async ({ page }: Visit, path: string) => {
    await page.goto(new URL(path, example.url).href)
  }
  const heading = (page: Page, name: string | RegExp) =>
    page.getByRole('heading', { level: 1, name }).waitFor()
  /** Until the page that it leads to is there: who reloads sooner takes the press back. */
  const follow = async (page: Page, what: Locator) => {
    await Promise.all([page.waitForEvent('domcontentloaded'), what.click()])
  }
  const press = (page: Page, name: string) =>
    follow(page, page.getByRole('button', { name, exact: true }))
  /** Pays at the fake gateway with a test card, and comes back to where that leads. */
  const pay = async (page: Page, card?: string) => {
    await heading(page, 'Test checkout')
    if (card !== undefined) await page.getByLabel('Test card: later charges').selectOption(card)
    await press(page, 'Pay')
    await heading(page, 'Paid')
  }
  /** The page again and again, as a person does, until it says so. */
  const reload = async (page: Page, words: RegExp) => {
    const says = async () => {
      await page.reload()
      return words.test(await page.locator('main').innerText())
    }
    await until(says, { what: `${page.url()} says ${words}` })
  }
  /** Pictures of the page on a phone and a desktop, in light and in dark. */
  const look = async ({ page }: Visit, name: string) => {
    const storageState = await page.context().storageState()
    await using looker = await openLooker(browser, { storageState })
    await looker.look({ name: `shop-${name}`, url: page.url() })
  }
  const statusOf = async () => {
    const { data } = await example.core.subscriptions.list({ limit: 1 })
    return data[0]?.status
  }
  const payments = () =>
    rowsOf<{ status: string; checkout: string; page: boolean }>(
      example,
      `select status, checkout, payment_method_id is null as page from billing.payments
       where period_id is not null order by created_at`,
    )
  const mails = () => example.running.stdout.filter((line) => /^mail to .* please pay/.test(line))

  test('a reader subscribes, is declined, pays by the link of a mail, confirms, and leaves', async () => {
    await using reader = await visit(browser)
    const { page } = reader
    await go(reader, '/')
    await look(reader, 'front')
    await press(page, 'Subscribe')
    await heading(page, 'Test checkout')
    await pay(page, 'soft')
    await follow(page, page.getByRole('link', { name: /^Return to/ }))
    await reload(page, /Open/)
    await look(reader, 'active')
    await go(reader, '/issue')
    await heading(page, 'The slip that came back')

    // The renewal is declined.
    await go(reader, '/account')
    await passTime(example, '31 days')
    await reload(page, /Your card was declined/)
    await look(reader, 'declined')
    await until(async () => mails().length === 1, { what: 'the mail is sent' })
    const [link = ''] = /http\S+/.exec(mails()[0] ?? '') ?? []
    assert.match(link, /\/billing\/subscriptions\/[0-9a-f-]{36}\/pay$/)

    // Opened on another device, where nobody is signed in; and left.
    await using phone = await visit(browser)
    await phone.page.goto(link)
    await heading(phone.page, 'Payment due')
    assert.equal((await payments()).length, 2)
    await press(phone.page, 'Pay')
    await heading(phone.page, 'Test checkout')
    const checkout = phone.page.url()
    await phone.page.goto(link)
    await press(phone.page, 'Pay')
    await heading(phone.page, 'Test checkout')
    assert.equal(phone.page.url(), checkout)
    assert.deepEqual((await payments()).slice(2), [
      { status: 'pending', checkout: 'open', page: true },
    ])
    await pay(phone.page, 'confirm')
    const back = phone.page.getByRole('link', { name: /^Return to/ })
    assert.equal(await back.getAttribute('href'), `${example.url}/account`)
    await phone.page.goto(link)
    await heading(phone.page, 'Nothing to pay')
    await reload(page, /\$9\.00 on/)

    // The bank wants the next one to be confirmed.
    await passTime(example, '31 days')
    await reload(page, /Your bank wants you to confirm/)
    await phone.page.goto(link)
    await heading(phone.page, 'Confirm the payment')
    await follow(page, page.getByRole('link', { name: 'Pay $9.00' }))
    await follow(page, page.getByRole('link', { name: /^Continue to/ }))
    await pay(page)
    assert.equal(await statusOf(), 'active')
    assert.deepEqual(
      (await payments()).map(({ status }) => status),
      ['paid', 'failed', 'paid', 'paid'],
    )

    await go(reader, '/account')
    await press(page, 'Cancel')
    await reload(page, /Ends on/)
    await look(reader, 'ending')
    await passTime(example, '31 days')
    await reload(page, /Ended on/)
    await go(reader, '/issue')
    await heading(page, 'For subscribers')
    await phone.page.goto(link)
    await heading(phone.page, 'Subscription canceled')
    assert.deepEqual(
      [...reader.faults, ...phone.faults].filter((text) => !/403/.test(text)),
      [],
    )
  })
})
