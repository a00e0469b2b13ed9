import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { consolePath, shortToken, signInPath } from './console-service.ts'

const reports = fileURLToPath(new URL('../../reports/pages/', import.meta.url))
const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** A telephone by day, and a desktop at night. */
const ways = [
  { way: 'phone-light', size: { width: 320, height: 640 }, colorScheme: 'light' },
  { way: 'desktop-dark', size: { width: 1280, height: 900 }, colorScheme: 'dark' },
] as const

export async function signInAt(page: Page, origin: string): Promise<void> {
  await page.goto(origin + signInPath)
  await page.locator('input[name=token]').fill(shortToken)
  await page.locator('main button').click()
  await page.waitForURL(origin + consolePath)
}

/** Looks at the page that is open; keeps its pictures. All that is wrong with it, in words. */
export async function faultsOf(page: Page, name: string): Promise<readonly string[]> {
  mkdirSync(reports, { recursive: true })
  await page.evaluate(axeSource)
  const faults: string[] = []
  for (const { way, size, colorScheme } of ways) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: `${reports}console-${name}-${way}.png` })
    const found = [...(await tooWide(page)), ...(await violations(page))]
    faults.push(...found.map((fault) => `${name}-${way}: ${fault}`))
  }
  return faults
}

/** A `<pre>` that the keyboard reaches is scrolled; nothing else is. */
function tooWide(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    const beside = scrollWidth > clientWidth ? ['beside the screen: ' + (scrollWidth - clientWidth)] : []
    const cut = [...document.querySelectorAll('body *')].filter((one) =>
      one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1 &&
      !one.matches('pre[tabindex="0"], input, select, option, .unseen, svg *') &&
      getComputedStyle(one).display !== 'inline' && one.closest('thead') === null)
    return [...beside, ...cut.map((one) => 'cut off: ' + one.outerHTML.slice(0, 200))]
  })()`)
}

interface Violation {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly html: string }[]
}

async function violations(page: Page): Promise<readonly string[]> {
  const { violations: found } = await page.evaluate<{ violations: readonly Violation[] }>(
    `axe.run(document, { resultTypes: ['violations'] })`,
  )
  return found.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html}`)
}

/** What leaves the service, or is a window that somebody else's text has opened. */
export function watch(page: Page, origin: string): readonly string[] {
  const seen: string[] = []
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/billing/`) && !url.startsWith('data:')) seen.push(url)
  })
  page.on('dialog', (dialog) => {
    seen.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  return seen
}

/** That a page has the hostile text, and it is but text: it hides nothing, and no card is in it. */
export async function assertHarmless(page: Page): Promise<void> {
  const [html, at] = [await page.content(), page.url()]
  assert.ok(html.includes('onerror=alert(1)'), `it is there: ${at}`)
  assert.ok(!html.includes('\u{202e}'), at)
  assert.ok(!html.includes('4242424242424242'), at)
  await assertInert(page)
}

/** Nothing of a page is made of a hostile text. */
export async function assertInert(page: Page): Promise<void> {
  const made = 'img, [onerror], [onfocus], [autofocus], script:not([src]), [href^="javascript"]'
  assert.equal(await page.locator(made).count(), 0, page.url())
}
