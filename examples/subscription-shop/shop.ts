// A whole shop that sells a subscription: plans, a trial, access, another card, cancel, resume, and
// what a reader sees whose card was declined. It takes payments at the fake gateway, so it needs no
// account; with the settings of another gateway that saves cards only the name in `subscriptions.ts`
// changes.
//
// Run it here, after `npm ci`:    npx node examples/subscription-shop/shop.ts
// In a project of your own:       npm install quittance hono @hono/node-server pg
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { serve } from '@hono/node-server'
import { Hono, type Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { csrf } from 'hono/csrf'
import { HTTPException } from 'hono/http-exception'
import { isQuittanceError, type SubscriptionDetails } from 'quittance'
import { billing } from './billing.ts'
import { accountPage } from './account-page.ts'
import { isPlan } from './magazine.ts'
import { frontPage, issuePage, lockedPage, sorryPage } from './pages.ts'
import { addReader, countReaders, createTable, pool } from './readers.ts'
import { cardOf, mayRead, saveCard, subscribe, subscriptionOf } from './subscriptions.ts'

await billing.migrate()
await createTable()
await billing.work()

const app = new Hono()
// Callbacks, and the pages that payers see: checkouts, and what a subscription owes.
app.all('/billing/*', (c) => billing.fetch(c.req.raw, c.env))
// Forms of other sites are refused; callbacks have come by already.
app.use(csrf({ origin: billing.origin }))

const style = await readFile(new URL('style.css', import.meta.url), 'utf8')
app.get('/style.css', (c) => c.body(style, 200, { 'content-type': 'text/css' }))

/** Who has signed in; in your shop, your own session. */
const readerOf = (c: Context) => getCookie(c, 'reader')

app.get('/', async (c) => {
  // With the form, not with its answer: pressed twice, it is the same reader.
  if (readerOf(c) === undefined) {
    setCookie(c, 'reader', randomUUID(), { httpOnly: true, sameSite: 'Lax', path: '/' })
  }
  return c.html(frontPage(await countReaders()))
})

app.post('/subscribe', async (c) => {
  const { id, plan } = await c.req.parseBody<{ id: string; plan: string }>()
  const reader = readerOf(c)
  if (reader === undefined || !isPlan(plan)) return c.redirect('/', 303)
  await addReader(reader)
  return c.redirect(await subscribe(reader, { id, plan }), 303)
})

app.get('/issue', async (c) => {
  const reader = readerOf(c)
  const isOpen = reader !== undefined && (await mayRead(reader))
  return isOpen ? c.html(issuePage()) : c.html(lockedPage(), 403)
})

app.get('/account', async (c) => {
  const subscription = await subscriptionIn(c)
  if (subscription === undefined) return c.redirect('/', 303)
  return c.html(accountPage(subscription, await cardOf(subscription)))
})

/** The buttons of the account. */
const wishes = new Map<string, (id: string) => Promise<unknown>>([
  ['card', saveCard],
  ['cancel', (id) => billing.subscriptions.cancel(id)],
  ['resume', (id) => billing.subscriptions.resume(id)],
])

app.post('/account/:wish', async (c) => {
  const wish = wishes.get(c.req.param('wish'))
  const subscription = await subscriptionIn(c)
  if (wish === undefined || subscription === undefined) return c.notFound()
  // To a checkout, or back.
  const target = await wish(subscription.id)
  return c.redirect(typeof target === 'string' ? target : '/account', 303)
})

app.notFound((c) => c.html(sorryPage('There is no such page.'), 404))

app.onError((error, c) => {
  if (error instanceof HTTPException) return error.getResponse()
  if (!isQuittanceError(error)) throw error
  // Such as `checkout_unknown`: the provider has not answered, and the account shows what comes.
  console.error(error.message)
  return c.html(sorryPage(`That did not work (${error.code}).`), 409)
})

async function subscriptionIn(c: Context): Promise<SubscriptionDetails | undefined> {
  const reader = readerOf(c)
  return reader === undefined ? undefined : subscriptionOf(reader)
}

const PORT = process.env.PORT || '3000'
const server = serve({ fetch: app.fetch, port: Number(PORT) }, () => {
  console.log(`listening on ${billing.origin}`)
})

// No new requests, then finish what is under way.
const end = () => void server.close(() => void pool.end().then(() => billing.close()))
process.once('SIGTERM', end).once('SIGINT', end)
