import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { routes } from '../../src/console/pages/index.ts'
import { missing, openBrowser, visit, type Visit } from '../pages/browser.ts'
import { assertHarmless, assertInert, faultsOf, signInAt, watch } from './console-eyes.ts'
import { consolePath } from './console-service.ts'
import {
  hostile,
  openConsole,
  openFilled,
  type Filled,
  type OpenConsole,
} from './filled-console.ts'

/** Downloads, and what is asked of a page that has been looked at: no pages of their own. */
const notLookedAt = new Set([
  '/calls/:id/body',
  '/invoices/export',
  '/payments/export',
  '/totals/export',
])

/** Where each page with a name or an id in its address has something to show. */
function addressesOf(filled: Filled): Readonly<Record<string, string>> {
  return {
    payments: filled.paid,
    calls: filled.failedCall,
    runs: filled.run,
    reviews: filled.review,
    gateways: 'fake',
    subscriptions: filled.subscription,
    invoices: filled.invoice,
    endpoints: filled.endpoint,
    events: filled.event,
  }
}

/** Of a route: the name of its picture, and its address. */
function pageOf(route: string, filled: Filled): readonly [name: string, address: string] {
  const [, section = ''] = route.split('/')
  const asked = route.endsWith('/registration') ? 'stripe' : undefined
  const id = asked ?? addressesOf(filled)[section] ?? ''
  const name = route.slice(1).replaceAll(/[/:]+/g, '-') || 'overview'
  const path = route.replace(/:id|:name/, id).replace(/^\/$/, '')
  return [name, consolePath + (queries[route] === undefined ? path : path + queries[route])]
}

const queries: Readonly<Record<string, string>> = {
  '/search': '?q=ch_881',
  '/search/calls': `?text=${encodeURIComponent('<img src=x onerror=alert(1)>')}`,
}

/** Pages on which nothing is but ours: counts, names of gateways, what is set. */
const ofOurs = [
  '/',
  '/gateways',
  '/gateways/:name',
  '/endpoints',
  '/endpoints/:name/forwards',
  '/events',
]

/** Pages that show what others have written, with more addresses of each. */
const foreign: Readonly<Record<string, readonly string[]>> = {
  '/payments': ['?status=paid'],
  '/payments/:id': ['?show=money', '?show=problems'],
  '/refused': [],
  '/failed': [],
  '/runs': [],
  '/runs/:id': [],
  '/search': [`?q=${encodeURIComponent('"><img src=x onerror=alert(1)>')}`],
  '/search/calls': [],
  '/calls': ['?state=failed'],
  '/calls/:id': ['?view=exact', '?view=fields'],
  '/reviews': [],
  '/reviews/:id': [],
  '/settings': [],
  '/audit': [],
  '/totals': [],
  '/subscriptions': [],
  '/subscriptions/:id': [],
  '/invoices': [],
  '/invoices/:id': [],
  '/endpoints/:name': [],
  '/events/:id': [],
}

const shown = routes.map(({ path }) => path).filter((path) => !notLookedAt.has(path))
const ofSomething = shown.filter((path) => path.includes(':'))
const ofAll = shown.filter((path) => !path.includes(':'))

interface Sight {
  readonly name: string
  readonly address: string
}

/** Opens each of them as the operator who is signed in; all that is wrong, of all of them. */
async function look({ page, faults }: Visit, sights: readonly Sight[]): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const { name, address } of sights) {
    const before = faults.length
    const answer = await page.goto(address)
    if (answer?.status() !== 200) wrong.push(`${name}: ${answer?.status()}`)
    await page.waitForLoadState('load')
    const said = faults.slice(before).map((fault) => `${name}: ${fault}`)
    wrong.push(...said, ...(await faultsOf(page, name)))
  }
  return wrong
}

describe('every page of the console, on a phone and a desktop', { skip: missing }, () => {
  let console: OpenConsole & { readonly filled: Filled }
  let browser: Browser
  before(async () => {
    console = await openFilled()
    browser = await openBrowser(console.server.port)
  })
  after(async () => {
    await browser.close()
    await console[Symbol.asyncDispose]()
  })

  const lookAt = async (paths: readonly string[]) => {
    await using visitor = await visit(browser)
    const seen = watch(visitor.page, console.origin)
    await signInAt(visitor.page, console.origin)
    const sights = paths.map((path) => {
      const [name, address] = pageOf(path, console.filled)
      return { name, address: console.origin + address }
    })
    assert.deepEqual(await look(visitor, sights), [])
    assert.deepEqual(seen, [])
  }

  test('the lists, and what is asked on them', () => lookAt(ofAll))
  test('what belongs to a payment, a call, or whatever else there is one of', () =>
    lookAt(ofSomething))

  test('it is said of each page whether it shows what others have written', () => {
    const pages = routes.flatMap((route) => ('page' in route ? [route.path] : []))
    const named = [...Object.keys(foreign), ...ofOurs, ...notLookedAt]
    assert.deepEqual(named.toSorted(), pages.toSorted())
  })

  const openHostile = async () => {
    const visitor = await visit(browser)
    const seen = watch(visitor.page, console.origin)
    await visitor.page.goto(console.link())
    return {
      ...visitor,
      open: (address: string) => visitor.page.goto(console.origin + address),
      assertQuiet() {
        assert.deepEqual(seen, [])
        // Of a filter that is none the browser itself complains.
        const others = visitor.faults.filter((text) => !/a status of 4/.test(text))
        assert.deepEqual(others, [])
      },
    }
  }

  test('hostile texts are but texts in every view: nothing opens, runs, or leaves', async () => {
    await using visitor = await openHostile()
    for (const [route, more] of Object.entries(foreign)) {
      const [, address] = pageOf(route, console.filled)
      for (const one of [address, ...more.map((query) => address.split('?')[0] + query)]) {
        await visitor.open(one)
        await assertHarmless(visitor.page)
      }
    }
    const { pending, call, handledReview } = console.filled
    for (const path of [`payments/${pending}`, `calls/${call}`, `reviews/${handledReview}`]) {
      await visitor.open(`${consolePath}/${path}`)
      await assertHarmless(visitor.page)
    }
    visitor.assertQuiet()
  })

  test('so are hostile texts in the address of any page, and of whatever asks', async () => {
    await using visitor = await openHostile()
    const query = new URLSearchParams(
      ['q', 'text', 'gateway', 'status', 'state', 'reason', 'customer', 'payable', 'cursor']
        .concat(['type', 'payment', 'day', 'month', 'back', 'done', 'next', 'call', 'endpoint'])
        .map((name) => [name, hostile]),
    )
    for (const route of shown) {
      const [, address] = pageOf(route, console.filled)
      await visitor.open(`${address.split('?')[0]}?${query.toString()}`)
      await assertInert(visitor.page)
    }
    visitor.assertQuiet()
  })
})

describe('every list of a console without anything', { skip: missing }, () => {
  test('says so, on a phone and a desktop', async () => {
    await using console = await openConsole()
    await using browser = await openBrowser(console.server.port)
    await using visitor = await visit(browser)
    await signInAt(visitor.page, console.origin)
    const sights = ofAll.map((path) => ({
      name: `empty${path.replaceAll('/', '-')}`,
      address: console.origin + consolePath + path.replace(/^\/$/, ''),
    }))
    assert.deepEqual(await look(visitor, sights), [])
  })
})
