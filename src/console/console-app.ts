import { html } from 'hono/html'
import { Hono, type Context } from 'hono'
import { onlyAllow } from '../http/respond.ts'
import { consoleAssets } from './assets.ts'
import type { ConsoleContext, Visit } from './context.ts'
import { createGate } from './gate.ts'
import { readForm, isOwnForm, visitorOf } from './guard.ts'
import { plainPage, visitedPage } from './page.ts'
import { askFor, carryOut } from './perform.ts'
import { busyPage, errorPage, notFoundPage, refuse } from './refusals.ts'
import { routes } from './pages/index.ts'
import type { ConsoleRoute } from './routes.ts'
import { signInRoutes } from './sign-in.ts'

/** All pages of the console, each behind the guard, at their paths. */
export function consoleApp(context: ConsoleContext): Hono {
  const app = new Hono().basePath(context.path)
  const gate = createGate()
  app.use('*', async (c, next) => {
    if (!context.isHost(c.req.header('host')?.toLowerCase() ?? '')) {
      return refuse(context, 'other_host')
    }
    return next()
  })
  app.route('/', consoleAssets())
  app.use('*', async (_c, next) => {
    const isDone = await gate(async () => {
      await next()
      return true
    })
    return isDone === undefined ? busyPage(context) : undefined
  })
  if (context.access.kind === 'sessions') app.route('/', signInRoutes(context, context.access))
  for (const route of routes) mount(app, route, context)
  app.all('*', (c) => visited(c, context, notFoundPage))
  app.onError((error, c) => errorPage(error, context, c))
  return app
}

function mount(app: Hono, route: ConsoleRoute, context: ConsoleContext): void {
  if ('page' in route) {
    app.get(route.path, (c) =>
      visited(c, context, async (visit) => {
        const page = await route.page(visit)
        if (page === undefined) return notFoundPage(visit)
        return page instanceof Response ? page : visitedPage(visit, page)
      }),
    )
    app.all(route.path, onlyAllow('GET, HEAD'))
    return
  }
  const { action } = route
  app.get(route.path, (c) => visited(c, context, (visit) => askFor(visit, action)))
  app.post(route.path, async (c) => {
    const read = await readForm(c)
    if (read.kind === 'refused') return refuse(context, read.refusal)
    const visitor = await visitorOf(c, context)
    if (visitor instanceof Response) return visitor
    if (visitor === undefined) return refuse(context, 'nobody')
    if (!isOwnForm(read.form, visitor)) return refuse(context, 'form_outdated')
    return carryOut(visitOf(c, context, visitor), action, read.form)
  })
  app.all(route.path, onlyAllow('GET, HEAD, POST'))
}

/** A page for somebody who is known; others are led to the way in. */
async function visited(
  c: Context,
  context: ConsoleContext,
  show: (visit: Visit) => Promise<Response>,
): Promise<Response> {
  const visitor = await visitorOf(c, context)
  if (visitor instanceof Response) return visitor
  if (visitor !== undefined) return withCookies(c, await show(visitOf(c, context, visitor)))
  if (context.access.kind === 'app') return refuse(context, 'nobody')
  const { pathname, search } = new URL(c.req.url)
  // From a link on another site, browsers leave our cookie out: the page itself asks once more.
  const site = c.req.header('sec-fetch-site')
  if (site === 'cross-site' || site === 'same-site') return onceMore(context, pathname + search)
  const next = new URLSearchParams({ next: pathname + search })
  return c.redirect(`${context.path}/sign-in?${next.toString()}`, 303)
}

function onceMore(context: ConsoleContext, path: string): Promise<Response> {
  return plainPage(context, {
    title: 'One moment',
    headers: { refresh: `0; url=${path}` },
    body: html`<p><a href="${path}">Open the page</a></p>`,
  })
}

function visitOf(c: Context, context: ConsoleContext, visitor: Visit['visitor']): Visit {
  return { console: context, visitor, url: new URL(c.req.url), params: c.req.param() }
}

/** Those that were set while the page was made. */
function withCookies(c: Context, page: Response): Response {
  for (const cookie of c.res.headers.getSetCookie()) page.headers.append('set-cookie', cookie)
  return page
}
