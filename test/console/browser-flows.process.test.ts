import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { writeCounts } from '../inspect/counting.ts'
import { missing, openBrowser, visit } from '../pages/browser.ts'
import { newPayment } from '../support/billing.ts'
import { until } from '../support/until.ts'
import { signInAt } from './console-eyes.ts'
import { consolePath, signInPath } from './console-service.ts'
import { openConsole, type OpenConsole } from './filled-console.ts'

describe('the console in a browser', { skip: missing }, () => {
  let console: OpenConsole
  let browser: Browser
  before(async () => {
    console = await openConsole()
    browser = await openBrowser(console.server.port)
  })
  after(async () => {
    await browser.close()
    await console[Symbol.asyncDispose]()
  })

  const at = (path: string) => console.origin + consolePath + path
  const statusOf = async (id: string) => (await console.billing.core.payments.get(id))?.status
  const signedIn = async (options: Parameters<typeof visit>[1] = {}) => {
    const visitor = await visit(browser, options)
    await signInAt(visitor.page, console.origin)
    return visitor
  }

  test('without JavaScript, an operator signs in, cancels a payment, and signs out', async () => {
    const { id } = await newPayment(console.billing.core)
    await using visitor = await signedIn({ javaScriptEnabled: false })
    const { page } = visitor
    await page.goto(at(`/payments/${id}`))
    await page.locator('a[data-ask]', { hasText: 'Cancel' }).click()
    await page.locator('main form button.go').click()
    await page.waitForURL(/done=canceled/)
    assert.equal(await page.locator('.notice[role=status]').count(), 1)
    assert.equal(await statusOf(id), 'canceled')
    await page.locator('.me summary').click()
    await page.locator('.me button').click()
    await page.waitForURL(`${console.origin}${signInPath}?done=signed_out`)
    await page.goto(at('/payments'))
    assert.match(page.url(), /sign-in/)
    assert.deepEqual(visitor.faults, [])
  })

  test('what asks opens above the page, closes by Escape, and does what its page does', async () => {
    const { id } = await newPayment(console.billing.core)
    await using visitor = await signedIn()
    const { page } = visitor
    await page.goto(at(`/payments/${id}`))
    const question = page.getByRole('dialog', { name: /Cancel/ })
    const ask = page.locator('a[data-ask]', { hasText: 'Cancel' })
    await ask.click()
    await question.waitFor()
    assert.equal(page.url(), at(`/payments/${id}`))
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
    await ask.click()
    await question.locator('a[data-back]').click()
    await question.waitFor({ state: 'detached' })
    assert.equal(await statusOf(id), 'pending')
    await ask.dblclick()
    await question.waitFor()
    await question.locator('button.go').click()
    await page.waitForURL(/done=canceled/)
    assert.equal(await statusOf(id), 'canceled')
    assert.deepEqual(visitor.faults, [])
  })

  const focused = (page: Page) =>
    page.evaluate<string>(`document.activeElement.id || document.activeElement.title`)

  test('keys find, go to pages and rows, and help; a switch in the help puts them off', async () => {
    const { id } = await newPayment(console.billing.core)
    await using visitor = await signedIn()
    const { page } = visitor
    await page.keyboard.press('/')
    assert.equal(await focused(page), 'search')
    // Whoever types goes nowhere.
    await page.keyboard.type('gp?')
    assert.equal(await page.locator('#search').inputValue(), 'gp?')
    await page.locator('#search').blur()
    // Within a second of each other, which a busy machine may miss.
    const go = async () => {
      await page.keyboard.press('g')
      await page.keyboard.press('p')
      const there = page.waitForURL(at('/payments'), { timeout: 30_000 })
      return there.then(
        () => true,
        () => false,
      )
    }
    await until(go, { what: 'it goes to the payments' })
    await page.waitForLoadState()
    await page.keyboard.press('j')
    assert.equal(await focused(page), id)
    await page.keyboard.press('Enter')
    await page.waitForURL(at(`/payments/${id}`))
    await page.waitForLoadState()
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keys' })
    await help.waitFor()
    await help.locator('#keys-off').check()
    await help.getByRole('button').click()
    await page.keyboard.press('/')
    assert.notEqual(await focused(page), 'search')
    await page.goto(at('/payments'))
    await page.keyboard.press('j')
    assert.notEqual(await focused(page), id)
    // It is the way back.
    await page.keyboard.press('?')
    await help.locator('#keys-off').uncheck()
    await help.getByRole('button').click()
    await page.keyboard.press('/')
    assert.equal(await focused(page), 'search')
    assert.deepEqual(visitor.faults, [])
  })

  test('a refresh leaves alone what is typed, selected and opened', async () => {
    await using visitor = await signedIn()
    const { page } = visitor
    const { id } = await console.billing.createPaid()
    await writeCounts(console.billing, 'callbacks_total', {
      span: 'quarter',
      values: { accepted: 7, refused: 1 },
    })
    // Sooner than after ten seconds, and once more each time.
    await page.route(/\/payments\/|console$/, async (route) => {
      const answer = await route.fetch()
      const body = (await answer.text()).replace('data-refresh="10"', 'data-refresh="0.3"')
      await route.fulfill({ response: answer, body })
    })
    await page.goto(at(''))
    await page.locator('#live', { hasText: 'live' }).waitFor()
    await page.locator('#overview details').first().locator('summary').click()
    await page.evaluate(
      `getSelection().selectAllChildren(document.querySelector('#overview .panel h2'))`,
    )
    const selected = await page.evaluate<string>('getSelection().toString()')
    await page.locator('#search').pressSequentially('ch_8')
    await seeRefreshes(page)
    assert.notEqual(selected, '')
    assert.equal(await focused(page), 'search')
    assert.equal(await page.locator('#search').inputValue(), 'ch_8')
    assert.equal(await page.locator('#overview details[open]').count(), 1)
    await page.locator('#search').blur()
    await page.evaluate(
      `getSelection().selectAllChildren(document.querySelector('#overview .panel h2'))`,
    )
    await seeRefreshes(page)
    assert.equal(await page.evaluate<string>('getSelection().toString()'), selected)
    // What is new is there, without the page being opened again.
    await page.goto(at(`/payments/${id}`))
    const rows = page.locator('#timeline tbody tr')
    const before = await rows.count()
    await console.billing.say({
      type: 'refund',
      payment: { id },
      status: 'paid',
      amount: 1_000n,
      currency: 'USD',
      refundReference: 're_1',
    })
    await until(async () => (await rows.count()) > before, { what: 'the refund is shown' })
    assert.deepEqual(visitor.faults, [])
  })

  test('new calls are counted on a button, and follow only if somebody says so', async () => {
    await using visitor = await signedIn()
    const { page } = visitor
    await page.route(/\/calls$/, async (route) => {
      const answer = await route.fetch()
      const body = (await answer.text()).replace('data-refresh="5"', 'data-refresh="0.3"')
      await route.fulfill({ response: answer, body })
    })
    await console.billing.createPaid()
    await page.goto(at('/calls'))
    const rows = page.locator('#rows tbody tr')
    const before = await rows.count()
    const first = await rows.first().getAttribute('id')
    const mark = page.locator(`#${first ?? ''} input[name=call]`)
    await mark.check()
    await console.billing.createPaid()
    const button = page.getByRole('button', { name: /new: show/ })
    await button.waitFor()
    assert.equal(await rows.count(), before)
    await button.click()
    await until(async () => (await rows.count()) > before, { what: 'the new call is shown' })
    assert.equal(await mark.isChecked(), true)
    assert.notEqual(await rows.first().getAttribute('id'), first)
    const shown = await rows.count()
    await page.getByLabel('Follow').check()
    await console.billing.createPaid()
    await until(async () => (await rows.count()) > shown, { what: 'it follows' })
    assert.equal(await mark.isChecked(), true)
    assert.deepEqual(visitor.faults, [])
  })
})

/** Two answers from now on: the first may have been under way already. */
async function seeRefreshes(page: Page): Promise<void> {
  for (let seen = 0; seen < 3; seen += 1) {
    await page.waitForResponse(
      (answer) => answer.request().headers()['x-quittance-refresh'] === '1',
    )
  }
  await page.locator('#live', { hasText: 'live' }).waitFor()
}
