import { html } from 'hono/html'
import { Hono } from 'hono'
import type { BillingCore } from '../../billing/types.ts'
import { page } from './layout.ts'
import { lookOf } from './look.ts'
import { linkButton } from './payment-view.ts'

/** Where a person may go from there: the words, and the path. */
export type FrontLinks = readonly (readonly [text: string, path: string])[]

/** What a person sees who opens the address of a service; programs go on to what is answered there. */
export function frontPage(core: Pick<BillingCore, 'brand' | 'payments'>, links: FrontLinks): Hono {
  const app = new Hono()
  app.get('/', async (c, next) => {
    const isPerson = c.req.header('accept')?.includes('text/html') === true
    if (!isPerson) return next()
    return page(lookOf(core, c), {
      title: 'Quittance',
      language: 'en',
      body: html`<h1>Quittance</h1>
        <p>This service takes the callbacks of payment providers. It runs.</p>
        <div class="actions">${links.map(([text, path]) => linkButton(path, text, false))}</div>`,
      headers: { vary: 'accept' },
    })
  })
  return app
}
