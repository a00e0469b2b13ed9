import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'

/** The first one is without windows from the ground up, and takes a fraction of the other's time. */
const programs = ['/usr/lib/chromium/chromium-headless-shell', '/usr/bin/chromium']
const program = programs.find((one) => existsSync(one))
const reports = fileURLToPath(new URL('../../reports/pages/', import.meta.url))
const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Why there is no browser to test with; a reason skips the tests, loudly. */
export const missing: string | false =
  program === undefined
    ? `NO BROWSER: install Debian's package chromium-headless-shell, or chromium`
    : false

if (missing !== false) process.stderr.write(`\n${missing}\n\n`)

/** Only ends a test that fails: a cold browser beside other work has taken 20 s for a page. */
const timeout = 120_000

/** Every test is one origin for the browser, whatever port the service has. */
export const host = 'pay.example.test'
export const pagesOrigin = `http://${host}`

/** A browser that finds `host` at this port of this machine. */
export function openBrowser(port: number): Promise<Browser> {
  return chromium.launch({
    timeout,
    ...(program !== undefined && { executablePath: program }),
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--host-resolver-rules=MAP ${host}:80 127.0.0.1:${port}`,
    ],
  })
}

/** A page of a context of its own, and what went wrong in it so far. */
export interface Visit extends AsyncDisposable {
  readonly page: Page
  readonly faults: readonly string[]
}

export async function visit(browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> {
  // The headless shell asks for no language by itself, and would be shown the first one.
  const context = await browser.newContext({ locale: 'en-US', ...options })
  context.setDefaultTimeout(timeout)
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', (line) => {
    if (line.type() === 'error' || line.type() === 'warning') faults.push(line.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  await page.addInitScript(`document.addEventListener('securitypolicyviolation', (event) =>
    console.error('refused: ' + event.violatedDirective + ' ' + event.blockedURI))`)
  return { page, faults, [Symbol.asyncDispose]: () => context.close() }
}

export interface Looked {
  /** Of its pictures. */
  readonly name: string
  readonly url: string
  /** The page itself is answered with this status. */
  readonly status?: number
  /** Answers for what others serve, mostly scripts, by the patterns of their addresses. */
  readonly served?: Readonly<Record<string, Served>>
}

export type Served = string | { readonly body: string; readonly contentType: string }

/** Looks at pages as payers with other eyes, hands and screens do. */
export interface Looker extends AsyncDisposable {
  /** Fails where one of them is shut out; keeps the pictures. */
  look(looked: Looked): Promise<void>
}

export async function openLooker(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Looker> {
  const plain = await visit(browser, options)
  const examined = await visit(browser, { ...options, bypassCSP: true })
  return {
    async look(looked) {
      const before = plain.faults.length
      await open(plain.page, looked)
      await lookPlainly(plain.page, looked)
      // Of a page that is not there the browser itself complains.
      const faults = plain.faults.slice(before).filter((text) => !/a status of [45]/.test(text))
      assert.deepEqual(faults, [], looked.name)
      await open(examined.page, looked)
      await assertAccessible(examined.page, looked.name)
    },
    [Symbol.asyncDispose]: async () => {
      await plain[Symbol.asyncDispose]()
      await examined[Symbol.asyncDispose]()
    },
  }
}

async function open(page: Page, { url, status = 200, served = {} }: Looked): Promise<void> {
  await page.unrouteAll()
  for (const [pattern, answer] of Object.entries(served)) {
    const body = typeof answer === 'string' ? answer : answer.body
    const contentType = typeof answer === 'string' ? 'text/javascript' : answer.contentType
    await page.route(pattern, (route) => route.fulfill({ body, contentType }))
  }
  const answer = await page.goto(url)
  assert.equal(answer?.status(), status)
}

const screens = { phone: { width: 320, height: 640 }, desktop: { width: 1000, height: 720 } }

/** Shows the page on every screen, in light and in dark. */
async function inEveryWay(page: Page, look: (way: string) => Promise<void>): Promise<void> {
  for (const [screen, size] of Object.entries(screens)) {
    await page.setViewportSize(size)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await look(`${screen}-${colorScheme}`)
    }
  }
}

async function lookPlainly(page: Page, { name }: Looked): Promise<void> {
  mkdirSync(reports, { recursive: true })
  await inEveryWay(page, async (way) => {
    await assertFits(page)
    await page.screenshot({ path: `${reports}${name}-${way}.png` })
  })
  await assertReachable(page)
}

async function assertFits(page: Page): Promise<void> {
  const wider = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  assert.equal(wider, 0, 'nothing is beside the screen')
  const cut = await page.evaluate<readonly string[]>(`
    [...document.querySelectorAll('main, main *:not(.bar)')]
      .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth)
      .map(({ outerHTML }) => outerHTML.slice(0, 200))`)
  assert.deepEqual(cut, [], 'nothing is cut off')
}

/** Every link and button gets the focus by the tabulator key, and shows it. */
async function assertReachable(page: Page): Promise<void> {
  const all = 'a[href], button:not([hidden]), input:not([type="hidden"]), select, summary'
  const count = await page.evaluate<number>(`document.querySelectorAll('${all}').length`)
  const reached: string[] = []
  for (let pressed = 0; pressed < count; pressed += 1) {
    await page.keyboard.press('Tab')
    reached.push(
      await page.evaluate<string>(`(() => {
        const at = [...document.querySelectorAll('${all}')].indexOf(document.activeElement)
        return at + ' ' + getComputedStyle(document.activeElement).outlineStyle
      })()`),
    )
  }
  assert.deepEqual(
    reached,
    Array.from({ length: count }, (_, at) => `${at} solid`),
  )
}

interface Violation {
  readonly id: string
  readonly impact: string
  readonly help: string
  readonly nodes: readonly { readonly html: string }[]
}

/** Nothing that axe finds, in light on a phone and in dark on a desktop: each colour and layout. */
async function assertAccessible(page: Page, name: string): Promise<void> {
  await page.addScriptTag({ content: axeSource })
  await inEveryWay(page, async (way) => {
    if (!['phone-light', 'desktop-dark'].includes(way)) return
    const { violations } = await page.evaluate<{ violations: readonly Violation[] }>('axe.run()')
    assert.deepEqual(
      violations.map(({ id, impact, help, nodes }) => [id, impact, help, nodes[0]?.html]),
      [],
      `${name}-${way}`,
    )
  })
}
