import { createHash } from 'node:crypto'
import { html, raw } from 'hono/html'
import { safeHeaders } from '../respond.ts'
import { style } from './style.ts'

export type Html = ReturnType<typeof html>

/** Sources that a page needs in addition to those of all pages. */
export type Policy = Readonly<
  Partial<
    Record<
      'script-src' | 'style-src' | 'img-src' | 'connect-src' | 'frame-src' | 'form-action',
      readonly string[]
    >
  >
>

export interface Page {
  readonly status?: number
  readonly title: string
  /** The content of `main`; its heading is the only `h1`. */
  readonly body: Html
  /** The class of `main`, which colours it, and its `data-` attributes. */
  readonly mark?: string
  readonly data?: Readonly<Record<string, string>>
  /** Addresses of scripts, run in this order when the page is loaded. */
  readonly scripts?: readonly string[]
  /** Seconds until a browser without scripts looks again. */
  readonly refreshSeconds?: number
  readonly policy?: Policy
  /** In addition to the style of all pages. */
  readonly style?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A page for a person's browser: nothing inline runs, nothing is cached, nobody may frame it. */
export async function page(parts: Page): Promise<Response> {
  const { status = 200, title, body, mark = '', data = {}, scripts = [] } = parts
  const attributes = Object.entries(data).map(
    ([name, value]) => html` data-${raw(name)}="${value}"`,
  )
  const document = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        ${refresh(parts.refreshSeconds)} ${stylesOf(parts).map(styleElement)}
        ${scripts.map((source) => html`<script src="${source}" defer></script>`)}
      </head>
      <body>
        <main class="${mark}" ${attributes}>${body}</main>
      </body>
    </html>`
  return new Response(document.toString(), { status, headers: headersOf(parts) })
}

/** Redirects a browser to another address, by GET. */
export function seeOther(location: string): Response {
  return new Response(null, { status: 303, headers: { location, ...privacy, ...safeHeaders } })
}

const privacy = { 'referrer-policy': 'no-referrer' } as const

function headersOf(parts: Page): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policyOf(parts),
    ...privacy,
    ...safeHeaders,
    ...parts.headers,
  }
}

/** All that is allowed: the styles by their digests, and what the page says it needs. */
function policyOf(parts: Page): string {
  const { policy = {} } = parts
  const directives: Record<string, readonly string[]> = {
    'default-src': ["'none'"],
    'style-src': [...stylesOf(parts).map(digestOf), ...(policy['style-src'] ?? [])],
    'img-src': ['data:', ...(policy['img-src'] ?? [])],
    'form-action': policy['form-action'] ?? ["'none'"],
    'base-uri': ["'none'"],
    'frame-ancestors': ["'none'"],
  }
  for (const name of ['script-src', 'connect-src', 'frame-src'] as const) {
    if (policy[name] !== undefined) directives[name] = policy[name]
  }
  return Object.entries(directives)
    .map(([name, sources]) => [name, ...sources].join(' '))
    .join('; ')
}

function stylesOf(parts: Page): readonly string[] {
  return parts.style === undefined ? [style] : [style, parts.style]
}

function digestOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

/** In one piece: white space from a formatter inside the element would change its digest. */
function styleElement(text: string): Html {
  return raw(`<style>${text}</style>`)
}

function refresh(seconds: number | undefined): Html | false {
  if (seconds === undefined) return false
  return html`<noscript><meta http-equiv="refresh" content="${seconds}" /></noscript>`
}
