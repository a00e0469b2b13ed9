import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import { canonicalParams } from '../http/canonical-params.ts'
import { namingRequests } from '../http/request-id.ts'
import { onlyAllow } from '../http/respond.ts'
import { backTo } from './action.ts'
import { consoleAssets } from './assets.ts'
import { browserKey } from './browser-key.ts'
import type { ConsoleContext, Visit } from './context.ts'
import { type Gate, createGate } from './gate.ts'
import { isOwnForm, isRefresh, readForm, visitorOf } from './guard.ts'
import { hostOf } from './hosts.ts'
import { plainPage, refreshOf, refreshed, visitedPage } from './page.ts'
import { routes } from './pages/index.ts'
import { askFor, carryOut } from './perform.ts'
import { busyPage, errorPage, notFoundPage, refuse } from './refusals.ts'
import type { ConsoleRoute, ShowSharedPage } from './routes.ts'
import { signInRoutes } from './sign-in.ts'

/** A console, and the places for its work. */
interface Guarded {
  readonly context: ConsoleContext
  /**
   * Who asks is found out in another queue than what they ask for is done: strangers, however many,
   * take no place of those who are known. Nothing holds a place while it sends what it asks.
   */
  readonly ofStrangers: Gate<Response>
  readonly ofVisitors: Gate<Response>
  readonly refresh: Refresh
}

/** All pages of the console, each behind the guard, at their paths. */
export function consoleApp(context: ConsoleContext): Hono {
  const app = new Hono().basePath(context.path)
  const newGate = () => createGate(() => busyPage(context))
  const guarded: Guarded = {
    context,
    ofStrangers: newGate(),
    ofVisitors: newGate(),
    refresh: sharingRefreshes(() => performance.now()),
  }
  app.use('*', namingRequests(context.log))
  app.use('*', async (c, next) =>
    context.isHost(hostOf(c)) ? next() : refuse(context, 'other_host'),
  )
  app.route('/', consoleAssets())
  app.use('*', async (c, next) => (isBareOfCookies(c, context) ? onceMore(c, context) : next()))
  if (context.access.kind === 'sessions') {
    app.route('/', signInRoutes(context, context.access, guarded.ofStrangers))
  }
  for (const route of routes) mount(app, route, guarded)
  app.get('*', (c) => withoutSlash(c, context) ?? visited(c, guarded, notFoundPage))
  app.all('*', onlyAllow('GET, HEAD'))
  app.onError((error, c) => errorPage(error, context, c))
  return app
}

function mount(app: Hono, route: ConsoleRoute, guarded: Guarded): void {
  if ('page' in route) {
    app.get(route.path, (c) =>
      visited(c, guarded, async (visit) => {
        if (route.isShared === true && visit.isRefresh) {
          const text = await guarded.refresh(visit, route.page)
          return text === undefined ? notFoundPage(visit) : refreshed(text)
        }
        const page = await route.page(visit)
        if (page === undefined) return notFoundPage(visit)
        return page instanceof Response ? page : visitedPage(visit, page)
      }),
    )
    app.all(route.path, onlyAllow('GET, HEAD'))
    return
  }
  const { context, ofVisitors } = guarded
  const { action } = route
  app.get(route.path, (c) => visited(c, guarded, (visit) => askFor(visit, action)))
  app.post(route.path, async (c) => {
    const read = await readForm(c, context)
    if (read.kind === 'refused') return refuse(context, read.refusal)
    const visitor = await whoAsks(c, guarded)
    if (visitor instanceof Response) return visitor
    if (visitor === undefined) return refuse(context, 'nobody')
    if (!isOwnForm(read.form, visitor)) return refuse(context, 'form_outdated')
    return ofVisitors(() => carryOut(visitOf(c, context, visitor), action, read.form))
  })
  app.all(route.path, onlyAllow('GET, HEAD, POST'))
}

/** A page for somebody who is known; others are led to the way in. */
async function visited(
  c: Context,
  guarded: Guarded,
  show: (visit: Visit) => Promise<Response>,
): Promise<Response> {
  const { context, ofVisitors } = guarded
  const visitor = await whoAsks(c, guarded)
  if (visitor instanceof Response) return visitor
  if (visitor !== undefined) {
    return withCookies(c, await ofVisitors(() => show(visitOf(c, context, visitor))))
  }
  if (context.access.kind === 'app') return refuse(context, 'nobody')
  const next = new URLSearchParams({ next: ownAddress(c, context) })
  return c.redirect(`${context.path}/sign-in?${next.toString()}`, 303)
}

/** The app's own guard has nothing to do with our database: it waits for no place. */
function whoAsks(c: Context, { context, ofStrangers }: Guarded) {
  const ask = () => visitorOf(c, context)
  return context.access.kind === 'app' ? ask() : ofStrangers(ask)
}

/** From a link on another site, browsers leave our cookies out: the page itself asks once more. */
function isBareOfCookies(c: Context, context: ConsoleContext): boolean {
  const site = c.req.header('sec-fetch-site')
  const isForeign = site === 'cross-site' || site === 'same-site'
  return isForeign && c.req.method === 'GET' && browserKey(c, context) === undefined
}

function onceMore(c: Context, context: ConsoleContext): Promise<Response> {
  const address = ownAddress(c, context)
  return plainPage(context, {
    title: 'One moment',
    headers: { refresh: `0; url=${address}` },
    body: html`<p><a href="${address}">Open the page</a></p>`,
  })
}

/** What was asked for, which may lead a browser: never to anything but ours. */
function ownAddress(c: Context, context: ConsoleContext): string {
  const url = new URL(c.req.url)
  return backTo({ console: context, url }, url.pathname + url.search, context.path)
}

/** People type one more. */
function withoutSlash(c: Context, context: ConsoleContext): Response | undefined {
  const url = new URL(c.req.url)
  const pathname = url.pathname.replace(/\/+$/, '')
  if (pathname === url.pathname) return undefined
  return c.redirect(backTo({ console: context, url }, pathname + url.search, context.path), 303)
}

function visitOf(c: Context, context: ConsoleContext, visitor: Visit['visitor']): Visit {
  const url = new URL(c.req.url)
  return {
    console: context,
    visitor,
    url,
    isRefresh: isRefresh(c),
    params: canonicalParams(c.req.param()),
  }
}

/** Those that were set while the page was made. */
function withCookies(c: Context, page: Response): Response {
  for (const cookie of c.res.headers.getSetCookie()) page.headers.append('set-cookie', cookie)
  return page
}

interface MadePage {
  readonly text: Promise<string | undefined>
  /** By the ticks; until it is made, there is no end. */
  until: number
}

/** Pages that are kept at most. A page beyond them is made for each request. */
const mostPages = 200

/** The page as it is now; undefined if its subject is gone. */
type Refresh = (visit: Visit, show: ShowSharedPage) => Promise<string | undefined>

/**
 * Makes refreshes of a page once for all who have it open: many viewers cost little more than one. A
 * refresh may show what was half the time between two of them ago. `ticks`: milliseconds of a clock
 * that never goes back.
 */
export function sharingRefreshes(ticks: () => number): Refresh {
  const made = new Map<string, MadePage>()
  const makeRoom = () => {
    for (const [key, { until }] of made) if (until <= ticks()) made.delete(key)
    return made.size < mostPages
  }
  const make = (visit: Visit, show: ShowSharedPage): MadePage => {
    const making = { until: Infinity }
    const textOf = async () => {
      let seconds = 0
      try {
        const page = await show(visit)
        seconds = page?.refreshSeconds ?? 0
        return page && (await refreshOf(page))
      } finally {
        making.until = ticks() + seconds * 500
      }
    }
    return Object.assign(making, { text: textOf() })
  }
  return (visit, show) => {
    const { pathname, search } = visit.url
    // What a viewer must not see, an operator's page has.
    const key = `${visit.visitor.role} ${pathname}${search}`
    const known = made.get(key)
    if (known !== undefined && known.until > ticks()) return known.text
    made.delete(key)
    const making = make(visit, show)
    if (makeRoom()) made.set(key, making)
    return making.text
  }
}
