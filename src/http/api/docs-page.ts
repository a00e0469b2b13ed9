import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Hono } from 'hono'
import { html, raw } from 'hono/html'
import { message } from '../../intake/responses.ts'
import type { Log } from '../../kernel/log.ts'
import { makeOnce } from '../../kernel/make-once.ts'
import { notFound, onlyAllow, respond, safeHeaders } from '../respond.ts'
import { documentPath } from './api-document.ts'
import { apiPath } from './api-path.ts'

const docsPath = '/docs'
/** Where the page is. */
export const docsAddress = apiPath + docsPath

/** Draws the page. Not ours to install: most services never show it. */
const reader = '@scalar/api-reference'

/** In a checkout too: without the flag npm leaves out what is an optional peer of the folder itself. */
export const installReader = `npm install --save-dev ${reader}`

const notInstalled = message(404, `this page needs the package ${reader}: ${installReader}`)

/** The script of the package, in one file, which brings all that it needs. */
interface Script {
  readonly path: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** The document for people: to read, and to try. Everything that it loads is served by us. */
export function docsPage(log: Log): Hono {
  const script = makeOnce(findScript)
  let logged = false
  const find = () =>
    script.get().catch((error: unknown) => {
      // Once: anybody may ask.
      if (!logged) log.warn({ err: error }, 'the page of the management API cannot be drawn')
      logged = true
      return undefined
    })
  const app = new Hono()
  app.get(docsPath, async () => {
    const found = await find()
    return found === undefined ? respond(notInstalled) : page(found)
  })
  // Its address changes with its text, so that it may be cached for ever.
  app.get(`${docsPath}/:file`, async (c) => {
    const found = await find()
    if (found === undefined || found.path !== c.req.path) return respond(notFound)
    return new Response(found.bytes, { headers: scriptHeaders })
  })
  for (const path of [docsPath, `${docsPath}/:file`]) app.all(path, onlyAllow('GET, HEAD'))
  return app
}

/** Whether there is anything to draw it. */
export function isReaderInstalled(): boolean {
  try {
    import.meta.resolve(reader)
    return true
  } catch {
    return false
  }
}

async function findScript(): Promise<Script> {
  const entry = import.meta.resolve(reader)
  const bytes = new Uint8Array(await readFile(new URL('browser/standalone.js', entry)))
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
  return { path: `${docsAddress}/reader-${digest}.js`, bytes }
}

const scriptHeaders = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
} as const

/** Nothing of it asks anybody but us: no fonts, no proxy, no telemetry, no other service. */
const settings = JSON.stringify({
  url: `${apiPath}${documentPath}`,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  persistAuth: false,
})

async function page({ path }: Script): Promise<Response> {
  const nonce = randomBytes(16).toString('base64')
  // Before the package is loaded: so its zod does not try whether it may compile text, as it may not.
  const before = 'globalThis.__zod_globalConfig = { jitless: true }'
  const after = `Scalar.createApiReference('#reader', ${settings})`
  const document = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>Quittance API</title>
        <link rel="icon" href="data:," />
      </head>
      <body>
        <div id="reader"></div>
        <script nonce="${nonce}">
          ${raw(before)}
        </script>
        <script nonce="${nonce}" src="${path}"></script>
        <script nonce="${nonce}">
          ${raw(after)}
        </script>
      </body>
    </html>`
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy(nonce),
    'referrer-policy': 'no-referrer',
    ...safeHeaders,
  }
  return new Response(document.toString(), { headers })
}

function policy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
