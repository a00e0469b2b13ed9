import { html } from 'hono/html'
import type { Html } from '../http/pages/layout.ts'
import { safeHeaders } from '../http/respond.ts'
import { scriptAssets, styleAsset } from './assets.ts'
import { formToken } from './browser-key.ts'
import type { ConsoleContext, Visit, Visitor } from './context.ts'
import { menu, type Section } from './menu.ts'
import { shown } from './parts/shown.ts'
import { isNotice, notices } from './words/notices.ts'

export interface ConsolePage {
  readonly status?: number
  readonly title: string
  /** What follows the title within the heading: a badge, buttons. */
  readonly beside?: Html
  readonly section?: Section
  readonly body: Html
  /** Seconds after which what is marked `data-live` is refreshed, where scripts run. */
  readonly refreshSeconds?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** A page for somebody who is signed in. */
export async function visitedPage({ console, visitor, url }: Visit, parts: ConsolePage) {
  const { refreshSeconds } = parts
  const refresh = refreshSeconds !== undefined && html`data-refresh="${refreshSeconds}"`
  const body = html`<a class="skip" href="#main">Skip to the content</a>
    ${topOf(console, visitor, url)} ${menu(console.path, parts.section)}
    <main id="main" ${refresh}>${noticeOf(url)} ${contentOf(parts)}</main>
    <footer>Times are UTC. Press <kbd>?</kbd> for keys.</footer>
    ${keysHelp}`
  return document(console, parts, body)
}

function contentOf({ title, beside, body }: ConsolePage): Html {
  return html`<h1 id="title" data-live>${title} ${beside}</h1>
    ${body}`
}

/** What a page that asks for itself again gets: the same for all who may see it, without a frame. */
export async function refreshOf(page: ConsolePage): Promise<string> {
  return (await contentOf(page)).toString()
}

export function refreshed(text: string): Response {
  return new Response(text, { headers: htmlHeaders })
}

/** A page for somebody of whom we know nothing. */
export async function plainPage(console: ConsoleContext, parts: ConsolePage): Promise<Response> {
  const body = html`<main id="main" class="ask">
    <h1>${parts.title}</h1>
    ${parts.body}
  </main>`
  return document(console, parts, body)
}

const embeddedBadge = html`<span
  class="badge warn"
  title="A power cut can damage the embedded database: in production, set DATABASE_URL"
  >embedded, not power-loss safe</span
>`

/** What has just been done. */
export function noticeOf(url: URL): Html | false {
  const done = url.searchParams.get('done')
  if (!isNotice(done)) return false
  const isWarning = done === 'unknown' || done === 'already'
  return html`<p class="${isWarning ? 'banner' : 'notice'}" role="status">${notices[done]}</p>`
}

const keysHelp = html`<dialog id="keys" aria-labelledby="keys-title">
  <h2 id="keys-title">Keys</h2>
  <dl>
    ${[
      ['/', 'find'],
      ['g o, g p, g c', 'overview, payments, calls'],
      ['g r, g f, g v', 'refused, failed, reviews'],
      ['j, k, Enter', 'next row, previous row, open it'],
      ['l', 'follow what is new'],
      ['?', 'this help'],
    ].map(
      ([key, what]) =>
        html`<div>
          <dt>${key}</dt>
          <dd>${what}</dd>
        </div>`,
    )}
  </dl>
  <label class="check"><input type="checkbox" id="keys-off" /> Keys are off</label>
  <form method="dialog"><button>Close</button></form>
</dialog>`

function topOf(
  { path, production, access, isEmbedded }: ConsoleContext,
  visitor: Visitor,
  url: URL,
): Html {
  const isSearch = url.pathname === `${path}/search`
  return html`<header class="top">
    <a class="brand" href="${path}">Quittance</a>
    <span class="badge ${production ? 'warn' : 'plain'}">
      ${production ? 'production' : 'development'}</span
    >
    ${isEmbedded && embeddedBadge}
    <form role="search" action="${path}/search">
      <label class="unseen" for="search">Find a payment or a call</label>
      <input
        id="search"
        type="search"
        name="q"
        maxlength="200"
        placeholder="Find by any id, e-mail, or amount and day"
        value="${isSearch ? (url.searchParams.get('q') ?? '') : ''}"
      />
      <button>Find</button>
    </form>
    <div class="me">${access.kind === 'app' ? whoIs(visitor) : signOut(path, visitor)}</div>
  </header>`
}

function whoIs({ name, role }: Visitor): Html {
  return html`${shown(name)} (${role})`
}

function signOut(path: string, visitor: Visitor): Html {
  return html`<details>
    <summary>${whoIs(visitor)}</summary>
    <form method="post" action="${path}/sign-out">
      ${formFields(visitor)}
      <button>Sign out</button>
    </form>
  </details>`
}

/** What each form of ours carries. */
export function formFields({ key }: Visitor): Html {
  return html`<input type="hidden" name="form_token" value="${formToken(key)}" />`
}

async function document(
  { path }: ConsoleContext,
  { title, status = 200, headers = {} }: ConsolePage,
  body: Html,
): Promise<Response> {
  const text = await html`<!doctype html>
    <html lang="en" data-console="${path}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · Quittance</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${path}${styleAsset.path}" />
        ${scriptAssets.map((script) => {
          const address = path + script.path
          return script.isModule
            ? html`<script type="module" src="${address}"></script>`
            : html`<script defer src="${address}"></script>`
        })}
      </head>
      <body>
        ${body}
      </body>
    </html>`
  return new Response(text.toString(), {
    status,
    headers: { ...htmlHeaders, ...headers },
  })
}

/** Nothing inline runs, and nothing is loaded from elsewhere. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types quittance',
].join('; ')

/** Under `no-referrer`, browsers would say the origin "null" of our own forms. */
export const pageHeaders = {
  'content-security-policy': policy,
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  ...safeHeaders,
} as const

const htmlHeaders = { 'content-type': 'text/html; charset=utf-8', ...pageHeaders } as const
