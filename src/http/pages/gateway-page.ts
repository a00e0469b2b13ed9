import { Hono } from 'hono'
import { html } from 'hono/html'
import type { GatewayPage } from '../../billing/gateway-pages.ts'
import type { BillingCore } from '../../billing/types.ts'
import type { BrowserPageContent } from '../../gateways/browser-page.ts'
import { onlyAllow } from '../respond.ts'
import { script, type Asset } from './assets.ts'
import { page } from './layout.ts'
import { lookOf, type Look } from './look.ts'
import { help } from './payment-view.ts'

/** The script of a gateway's page, served with ours. */
export function scriptOf({ gateway, script: text }: GatewayPage): Asset {
  return script(gateway, text)
}

/** The pages that gateways provide, at all their addresses. */
export function gatewayPageRoutes(core: BillingCore): Hono {
  const app = new Hono()
  for (const one of core.pages) {
    app.get(one.path, (c) => {
      const look = lookOf(core, c)
      const content = one.content(new URL(c.req.url).searchParams, look.language.tag)
      return contentPage(content, scriptOf(one), look)
    })
    app.all(one.path, onlyAllow('GET, HEAD'))
  }
  return app
}

function contentPage(content: BrowserPageContent, ours: Asset, look: Look): Promise<Response> {
  const { status, language = 'en', heading, texts, active } = content
  const [first = '', ...more] = texts
  const again =
    active && html`<button class="go" id="again" type="button" hidden>${active.button}</button>`
  const body = html`<h1>${heading}</h1>
    <p id="news" role="status">${first}</p>
    ${more.map((text) => html`<p>${text}</p>`)}
    ${active && html`<noscript><p>${look.language.say('scriptNeeded')}</p></noscript>`}
    <div class="actions">${again}${help(look)}</div>`
  const shown = { status, language, title: heading, body }
  if (active === undefined) return page(look, shown)
  const { data, sources, style, policy } = active
  return page(look, {
    ...shown,
    data,
    scripts: [...sources, ours.path],
    policy: { ...policy, 'script-src': ["'self'", ...(policy['script-src'] ?? [])] },
    ...(style !== undefined && { style }),
    // The provider's script learns who loaded it, and no more than that.
    headers: { 'referrer-policy': 'strict-origin' },
  })
}
