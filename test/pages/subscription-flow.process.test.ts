import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { eventually, type Service } from '../http/service.ts'
import { missing, openBrowser, pagesOrigin, visit } from './browser.ts'
import { startPayerService, subscribe, workUntil } from './payer-service.ts'

describe('a subscriber in a browser', { skip: missing }, () => {
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

  test('27: opens the page, which makes nothing, pays by its button, and is told that nothing is owed', async () => {
    const { subscription } = await subscribe(service, { trialDays: 14 })
    const path = `/billing/subscriptions/${subscription.id}/pay`
    await using payer = await visit(browser, {})
    const { page } = payer
    await page.goto(pagesOrigin + path)
    await page.reload()
    const details = async () => {
      const found = await service.core.subscriptions.get(subscription.id)
      assert.ok(found)
      return found
    }
    assert.deepEqual((await details()).payments, [])
    await page.getByRole('heading', { name: 'You are in your trial' }).waitFor()
    await page.getByRole('button', { name: 'Pay' }).click()
    // The policy of the page lets its form lead on to the checkout.
    await page.waitForURL(/\/billing\/fake\/checkout\//)
    const [payment, ...others] = (await details()).payments
    assert.ok(payment)
    assert.deepEqual(others, [])
    assert.ok(page.url().endsWith(payment.id))

    // Whoever goes back and presses again gets to the same checkout.
    await page.goto(pagesOrigin + path)
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.waitForURL(/\/billing\/fake\/checkout\//)
    assert.ok(page.url().endsWith(payment.id))
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.waitForURL(/\/billing\/return\//)
    await workUntil(service, payment.id, 'paid')
    const paid = await eventually(async () => {
      const found = await details()
      return found.paymentMethodId === null ? undefined : found
    })
    assert.deepEqual(
      paid.periods.map(({ number, state }) => [number, state]),
      [
        [0, 'free'],
        [1, 'paid'],
      ],
    )
    await page.goto(pagesOrigin + path)
    await page.getByRole('heading', { name: 'Nothing to pay' }).waitFor()
    assert.equal(await page.getByRole('button').count(), 0)
    assert.deepEqual(payer.faults, [])
  })
})
