import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openBrowser } from '../examples/browse.ts'
import { installNextjs, makeNextjsApp, type NextjsApp } from '../examples/nextjs-app.ts'
import {
  openBrowser as openChromium,
  openLooker,
  pagesOrigin,
  visit,
  type Looked,
  type Looker,
} from '../pages/browser.ts'
import { postgres } from '../support/databases.ts'
import type { RunningProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

// A step of Next.js takes seconds, on a busy machine many of them.
const slowMs = 180_000

const nextjs = await installNextjs()
const { missing } = nextjs
const home = 'folder' in nextjs ? nextjs.folder : ''

/** Changes a file as an editor does. */
function edit(app: NextjsApp, file: string, [from, to]: readonly [string, string]): void {
  const path = join(app.folder, file)
  const text = readFileSync(path, 'utf8')
  assert.ok(text.includes(from), `${file} lacks ${from}`)
  writeFileSync(path, text.replace(from, to))
}

/** Buys at the small example as a browser without JavaScript does; the page's status if it fails. */
async function buyAt(url: string): Promise<number | undefined> {
  const { open, press } = openBrowser()
  const page = await open(url)
  if (page.status !== 200) return page.status
  const checkout = await press(page)
  if (checkout.status !== 200) return checkout.status
  assert.match(checkout.url, /\/billing\/fake\/checkout\//)
  await press(checkout, 'success')
  return undefined
}

test('next dev runs edited listeners from the next request on', { skip: missing }, async () => {
  using app = makeNextjsApp(home, 'nextjs')
  const { running, url } = await app.run('dev', {})
  assert.equal(await buyAt(url), undefined)
  await running.line(/^paid: order 42$/, slowMs)

  edit(app, 'lib/billing.ts', ['`paid: ', '`edited: '])
  // The request may still be answered by what was compiled before.
  await until(async () => (await buyAt(url)) === undefined && says(running, /^edited: order 42$/), {
    what: 'the edited listener has run',
    limitMs: slowMs,
  })

  edit(app, 'lib/billing.ts', ['grantAccess', 'renamed'])
  await until(async () => (await buyAt(url)) === 500, {
    what: 'a renamed listener is refused',
    limitMs: slowMs,
  })
  assert.ok(says(running, /listener_too_late/))
  edit(app, 'lib/billing.ts', ['renamed', 'grantAccess'])
  await until(async () => (await buyAt(url)) === undefined, {
    what: 'the listener has its name again',
    limitMs: slowMs,
  })
  await running.stop()
})

test(
  'packed into the bundle, the embedded database names the bundler',
  { skip: missing },
  async () => {
    using app = makeNextjsApp(home, 'nextjs')
    rmSync(join(app.folder, 'next.config.ts'))
    const { running } = await app.run('dev', {})
    await running.line(/package_bundled/, slowMs)
    assert.ok(says(running, /serverExternalPackages: \['quittance'\]/))
    assert.ok(!says(running, /embedded_damaged/))
    await running.stop()
  },
)

test(
  'the shop, built for production: a login, a checkout, an order, its refunds',
  { skip: missing },
  async () => {
    await using ends = new AsyncDisposableStack()
    const database = await postgres.create()
    ends.defer(() => database.drop())
    const app = ends.use(makeNextjsApp(home, 'nextjs-shop'))
    await app.build()
    const { running, url } = await app.run('start', {
      APP_URL: pagesOrigin,
      DATABASE_URL: database.url ?? '',
      BILLING_FAKE: 'on',
    })
    ends.defer(() => running.kill().then(() => undefined))
    await takesPaymentsAndGivesThemBack({ url, origin: pagesOrigin, looks: true })
    await running.line(/^receipt to ann@example\.com: \$19\.99 \(/)
  },
)

test(
  'the shop in next dev: edited pages and listeners count at once',
  { skip: missing },
  async () => {
    await using ends = new AsyncDisposableStack()
    const app = ends.use(makeNextjsApp(home, 'nextjs-shop'))
    const { running, url } = await app.run('dev', {})
    // Before its folder is removed, whatever has failed.
    ends.defer(() => running.stop().then(() => undefined))
    await takesPaymentsAndGivesThemBack({ url, origin: url, looks: false })
    edit(app, 'lib/listeners.ts', ['`receipt to', '`thanks to'])
    edit(app, 'app/page.tsx', ['{product.about}', 'An edited page.'])
    await until(async () => /An edited page/.test(await (await fetch(url)).text()), {
      what: 'the page is the edited one',
      limitMs: slowMs,
    })
    await takesPaymentsAndGivesThemBack({ url, origin: url, looks: false })
    await running.line(/^thanks to ann@example\.com: \$19\.99 \(/, slowMs)
  },
)

interface Running {
  readonly url: string
  /** What the browser calls it: in development Next.js serves no other name than its own. */
  readonly origin: string
  /** Looks at each page; in development Next.js adds its own tools to them. */
  readonly looks: boolean
}

/** From the login to the money back, in a browser. */
async function takesPaymentsAndGivesThemBack({ url, origin, looks }: Running): Promise<void> {
  await using ends = new AsyncDisposableStack()
  const browser = await openChromium(Number(new URL(url).port))
  ends.defer(() => browser.close())
  const { page, faults } = ends.use(await visit(browser, { locale: 'en' }))
  page.context().setDefaultTimeout(60_000)
  const look = (looker: Looker, looked: Looked) => (looks ? looker.look(looked) : undefined)
  const stranger = ends.use(await openLooker(browser, { locale: 'en' }))
  await look(stranger, { name: 'shop-product', url: origin })
  await look(stranger, { name: 'shop-login', url: `${origin}/login` })

  await page.goto(origin)
  await page.getByRole('button', { name: 'Buy' }).click()
  await page.getByLabel('E-mail').fill('ann@example.com')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Buy' }).click()
  await page.waitForURL('**/billing/fake/checkout/*')
  await page.locator('button[value=failure]').click()
  await page
    .getByText(/declined/)
    .first()
    .waitFor()
  await page.getByRole('link', { name: /^Return/ }).click()
  await page.getByText('The payment was declined').waitFor()
  const order = page.url()
  const storageState = await page.context().storageState()
  const shopper = ends.use(await openLooker(browser, { locale: 'en', storageState }))
  await look(shopper, { name: 'shop-order-unpaid', url: order })

  await page.getByRole('button', { name: 'Pay' }).click()
  await page.waitForURL('**/billing/fake/checkout/*')
  await page.locator('button[value=success]').click()
  await page
    .getByText(/Thank you/)
    .first()
    .waitFor()
  await page.getByRole('link', { name: /^Return/ }).click()
  await page.getByText('Enjoy the book').waitFor()
  await look(shopper, { name: 'shop-order-paid', url: order })

  // A part of the money back: the order stays. All of it: it is taken back.
  await page.getByRole('button', { name: /refund the shipping, \$5\.00/ }).click()
  await page.getByText('$5.00 went back to you').waitFor()
  await page.getByText('Partly refunded').waitFor()
  await page.getByRole('button', { name: /refund \$14\.99/ }).click()
  await page.getByText('on its way back').waitFor()
  await look(shopper, { name: 'shop-orders', url: `${origin}/orders` })
  await look(shopper, { name: 'shop-order-refunded', url: order })

  // Somebody else sees nothing of it.
  const other = ends.use(await visit(browser, { locale: 'en' }))
  await other.page.goto(`${origin}/login`)
  await other.page.getByLabel('E-mail').fill('eve@example.com')
  await other.page.getByRole('button', { name: 'Sign in' }).click()
  await other.page.getByText('Signed in as eve').waitFor()
  assert.equal((await other.page.goto(order))?.status(), 404)
  if (looks) assert.deepEqual(faults, [])
}

/** Whether a line of this kind was printed. */
function says({ stdout, stderr }: RunningProcess, pattern: RegExp): boolean {
  return [...stdout, ...stderr].some((line) => pattern.test(line))
}
