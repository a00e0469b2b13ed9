import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page, Response } from 'playwright-core'
import { missing, openBrowser, visit } from '../pages/browser.ts'
import { consolePath } from './console-service.ts'
import { openConsole, type OpenConsole } from './filled-console.ts'

/** Somebody else’s site: a page that does what it likes at each path, whatever name leads to it. */
interface SecondSite {
  readonly port: number
  page: string
  close(): void
}

async function openSecondSite(): Promise<SecondSite> {
  const site = { port: 0, page: '', close: () => server.close() }
  const server: Server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(site.page)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  site.port = (server.address() as AddressInfo).port
  return site
}

describe('a second site that the operator opens beside the console', { skip: missing }, () => {
  let console: OpenConsole
  let site: SecondSite
  let browser: Browser
  before(async () => {
    console = await openConsole()
    site = await openSecondSite()
    browser = await openBrowser(console.server.port)
  })
  after(async () => {
    await browser.close()
    site.close()
    await console[Symbol.asyncDispose]()
  })

  const at = (path: string) => console.origin + consolePath + path

  /** Everything that money and calls hang on. */
  const stateOf = async (paymentId: string) => {
    const { core } = console.billing
    const payment = await core.payments.get(paymentId)
    const [call] = (await core.calls.list({ limit: 1 })).data
    return {
      status: payment?.status,
      refunded: payment?.refunded,
      refunds: payment?.refunds.length,
      call: [call?.id, call?.state, call?.processedAt],
      actions: (await core.operators.actions({})).data.map(({ id, action }) => `${id} ${action}`),
    }
  }

  /** The form of the page that asks, with all that is secret in it: as if it had been stolen. */
  async function stolenForm(page: Page, path: string): Promise<string> {
    await page.goto(at(path))
    const inside = await page.evaluate<string>(`(() => {
      const form = document.querySelector('form[method=post]:has(button.go)')
      return [...new FormData(form)]
        .map(([name, value]) => '<input type="hidden" name="' + name + '" value="' + value + '">')
        .join('')
    })()`)
    return `<form method="post" action="${at(path)}">${inside}<button>Win a prize</button></form>`
  }

  /** From another site no cookie is sent; from another port of ours it is, and the form is refused. */
  const names = { 'another site': '127.0.0.1', 'another port of the same host': 'localhost' }

  for (const [what, name] of Object.entries(names)) {
    test(`on ${what}, a stolen form of theirs does nothing, by a press or by itself`, async () => {
      await using visitor = await visit(browser)
      const { page } = visitor
      await page.goto(console.link())
      const { id } = await console.billing.createPaid()
      const [call] = (await console.billing.core.calls.list({ limit: 1 })).data
      const pending = await console.billing.create()
      for (const path of [
        `/payments/${id}/refund`,
        `/calls/${call?.id}/replay`,
        `/payments/${pending.id}/cancel`,
      ]) {
        const form = await stolenForm(page, path)
        const before = [await stateOf(id), await stateOf(pending.id)]
        for (const script of ['', '<script>document.forms[0].submit()</script>']) {
          site.page = form + script
          const answered = page.waitForResponse((one) => one.request().method() === 'POST')
          await page.goto(`http://${name}:${site.port}/`).catch(() => {})
          if (script === '') await page.locator('button').click()
          assert.equal((await answered).status(), 403, path)
          await page.waitForLoadState()
          assert.deepEqual([await stateOf(id), await stateOf(pending.id)], before, path)
        }
      }
      // Nor is the operator signed out by that.
      await page.goto(at('/payments'))
      assert.equal(page.url(), at('/payments'))
    })

    test(`on ${what}, neither a script nor a frame of theirs reads or acts`, async () => {
      await using visitor = await visit(browser)
      const { page } = visitor
      await page.goto(console.link())
      const { id } = await console.billing.createPaid()
      const before = await stateOf(id)
      site.page = `<iframe src="${at(`/payments/${id}`)}"></iframe>`
      await page.goto(`http://${name}:${site.port}/`)
      for (const init of [
        `{ credentials: 'include' }`,
        `{ credentials: 'include', method: 'POST', body: new URLSearchParams({ id: '${id}' }) }`,
        `{ credentials: 'include', method: 'POST', mode: 'no-cors', body: new URLSearchParams({ amount: '1' }) }`,
      ]) {
        const read = await page.evaluate<string>(
          `fetch('${at(`/payments/${id}/refund`)}', ${init}).then((one) => one.text(), () => '')`,
        )
        assert.equal(read, '', init)
      }
      const frame = page.frames().at(-1)
      assert.ok(!(await frame?.content())?.includes(id), 'it is in no frame')
      assert.deepEqual(await stateOf(id), before)
    })
  }

  const linkTo = async (page: Page, name: string, path: string) => {
    site.page = `<a href="${at(path)}">Look at this</a>`
    await page.goto(`http://${name}:${site.port}/`)
    const documents: Response[] = []
    page.on('response', (one) => {
      if (one.request().resourceType() === 'document') documents.push(one)
    })
    await page.locator('a').click()
    await page.locator('h1').filter({ hasNotText: 'One moment' }).waitFor()
    return documents
  }

  test('a link of theirs leads to the page, signed in, by way of one that asks once more', async () => {
    await using visitor = await visit(browser)
    const { page } = visitor
    await page.goto(console.link())
    const { id } = await console.billing.createPaid()
    const path = `/payments/${id}?show=money`
    const documents = await linkTo(page, '127.0.0.1', path)
    assert.equal(page.url(), at(path))
    assert.match(await page.locator('main').innerText(), /^Payment/)
    assert.equal(documents.length, 2)
    assert.equal(documents[0]?.headers()['refresh'], `0; url=${consolePath}${path}`)
    // At another port of the host, the cookie comes at once.
    assert.equal((await linkTo(page, 'localhost', path)).length, 1)
    assert.equal(page.url(), at(path))
    assert.deepEqual(visitor.faults, [])
  })

  test('a link of theirs to what asks only asks', async () => {
    await using visitor = await visit(browser)
    const { page } = visitor
    await page.goto(console.link())
    const { id } = await console.billing.create()
    const before = await stateOf(id)
    await linkTo(page, '127.0.0.1', `/payments/${id}/cancel?back=//evil.example&id=${id}`)
    assert.equal(await page.locator('form[method=post] button.go').count(), 1)
    assert.deepEqual(await stateOf(id), before)
  })
})
