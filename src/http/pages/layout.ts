import { createHash } from 'node:crypto'
import { html, raw } from 'hono/html'
import type { Brand } from '../../billing/brand.ts'
import { safeHeaders } from '../respond.ts'
import { visibleText } from '../visible-text.ts'
import { brandStyle } from './brand-style.ts'
import type { Look } from './look.ts'
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
  /** The tag of its language, if the look's is not the one. */
  readonly language?: string
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
export async function page(look: Look, parts: Page): Promise<Response> {
  const { status = 200, title, body, mark = '', data = {}, scripts = [] } = parts
  const { brand } = look
  const language = parts.language ?? look.language.tag
  const styles = stylesOf(brand, parts)
  const attributes = Object.entries(data).map(
    ([name, value]) => html` data-${raw(name)}="${value}"`,
  )
  const document = await html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${brand.name === undefined ? title : `${title} · ${visibleText(brand.name)}`}</title>
        <link rel="icon" href="data:," />
        ${refresh(parts.refreshSeconds)} ${styles.map(styleElement)}
        ${scripts.map((source) => html`<script src="${source}" defer></script>`)}
      </head>
      <body>
        ${head(brand)}
        <main class="${mark}" ${attributes}>${body}</main>
      </body>
    </html>`
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policyOf(parts, brand, styles),
    'content-language': language,
    vary: 'accept-language',
    ...privacy,
    ...safeHeaders,
    ...parts.headers,
  }
  return new Response(document.toString(), { status, headers })
}

/** Redirects a browser to another address, by GET. */
export function seeOther(location: string): Response {
  return new Response(null, { status: 303, headers: { location, ...privacy, ...safeHeaders } })
}

/** Whose page it is. The name says what the logo shows, so the logo itself is not read out. */
function head({ name, logo }: Brand): Html | false {
  if (name === undefined) return false
  const image = logo !== undefined && html`<img src="${logo}" alt="" />`
  return html`<header>${image}<span>${visibleText(name)}</span></header>`
}

const privacy = { 'referrer-policy': 'no-referrer' } as const

/** All that is allowed: the styles by their digests, the logo, and what the page says it needs. */
function policyOf({ policy = {} }: Page, { logo }: Brand, styles: readonly string[]): string {
  const logoSource = logo === undefined || logo.startsWith('data:') ? [] : [new URL(logo).origin]
  const directives: Record<string, readonly string[]> = {
    'default-src': ["'none'"],
    'style-src': [...styles.map(digestOf), ...(policy['style-src'] ?? [])],
    'img-src': ['data:', ...logoSource, ...(policy['img-src'] ?? [])],
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

function stylesOf({ color }: Brand, { style: own }: Page): readonly string[] {
  const ofBrand = color === undefined ? undefined : brandStyle(color)
  return [style, ofBrand, own].filter((text) => text !== undefined)
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
