import { Hono } from 'hono'
import { html } from 'hono/html'
import type { GatewayPage } from '../../billing/gateway-pages.ts'
import type { BrowserPageContent } from '../../gateways/browser-page.ts'
import { onlyAllow } from '../respond.ts'
import { script, type Asset } from './assets.ts'
import { page } from './layout.ts'

/** The script of a gateway's page, served with ours. */
export function scriptOf({ gateway, script: text }: GatewayPage): Asset {
  return script(gateway, text)
}

/** The pages that gateways provide, at all their addresses. */
export function gatewayPageRoutes(pages: readonly GatewayPage[]): Hono {
  const app = new Hono()
  for (const one of pages) {
    app.get(one.path, (c) =>
      contentPage(one.content(new URL(c.req.url).searchParams), scriptOf(one)),
    )
    app.all(one.path, onlyAllow('GET, HEAD'))
  }
  return app
}

function contentPage(content: BrowserPageContent, ours: Asset): Promise<Response> {
  const { status, heading, texts, active } = content
  const [first = '', ...more] = texts
  const body = html`<h1>${heading}</h1>
    <p id="news" role="status">${first}</p>
    ${more.map((text) => html`<p>${text}</p>`)}
    ${
      active &&
      html`<noscript><p>This page needs JavaScript to open the checkout.</p></noscript>
        <div class="actions">
          <button class="go" id="again" type="button" hidden>${active.button}</button>
        </div>`
    }`
  if (active === undefined) return page({ status, title: heading, body })
  const { data, sources, style, policy } = active
  return page({
    status,
    title: heading,
    body,
    data,
    scripts: [...sources, ours.path],
    policy: { ...policy, 'script-src': ["'self'", ...(policy['script-src'] ?? [])] },
    ...(style !== undefined && { style }),
    // The provider's script learns who loaded it, and no more than that.
    headers: { 'referrer-policy': 'strict-origin' },
  })
}
