import { html, raw } from 'hono/html'
import { createHash } from 'node:crypto'
import type { Brand } from '../../billing/brand.ts'
import { safeHeaders } from '../respond.ts'
import { visibleText } from '../visible-text.ts'
import type { Look } from './look.ts'
import { papers, style } from './style.ts'

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

/** The least contrast of a text, and of the edge of something to press: WCAG 2.2, 1.4.3, 1.4.11. */
const readable = 4.5
const discernible = 3

/**
 * The style that gives the main button a brand's colour: its text is white, or black where white
 * could not be read; where the button itself would be lost on the page, it keeps our edge.
 */
export function brandStyle(brandColor: string): string {
  const color = `#${brandColor.replace('#', '').toLowerCase()}`
  const text = contrast(color, '#fff') >= readable ? '#fff' : '#000'
  const edgeOn = (paper: string) => (contrast(color, paper) >= discernible ? color : 'var(--edge)')
  return `
:root { --brand: ${color}; --go: ${color}; --on-go: ${text}; --go-edge: ${edgeOn(papers.light)} }
@media (prefers-color-scheme: dark) { :root { --go-edge: ${edgeOn(papers.dark)} } }
`
}

/** Of two colours of three or six hexadecimal digits, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

/** https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
function luminance(color: string): number {
  const digits = color.replace('#', '')
  const pairs = digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const share = Number.parseInt(pairs.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
