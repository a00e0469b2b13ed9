import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Hono } from 'hono'
import { notFound, respond } from '../http/respond.ts'
import { style } from './style.ts'

/** Its address, below that of the console, changes with its text: it may be cached for ever. */
interface Asset {
  readonly path: string
  readonly text: string
  readonly type: string
}

const scriptType = 'text/javascript; charset=utf-8'

export const styleAsset = asset('console.css', 'text/css; charset=utf-8', style)

const morphing = textOf(import.meta.resolve('idiomorph/dist/idiomorph.min.js'))
const ours = textOf(new URL('browser/console.js', import.meta.url).href)

/** In the order in which they run. As a module, idiomorph would keep its one variable to itself. */
export const scriptAssets = [
  { ...asset('idiomorph.js', scriptType, morphing), isModule: false },
  { ...asset('console.js', scriptType, ours), isModule: true },
]

function textOf(url: string): string {
  return readFileSync(fileURLToPath(url), 'utf8')
}

function asset(file: string, type: string, text: string): Asset {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16)
  return { path: `/assets/${file.replace('.', `-${digest}.`)}`, text, type }
}

const assets = new Map([styleAsset, ...scriptAssets].map((one) => [one.path, one]))

/** Mounted below the console; anybody may have them. */
export function consoleAssets(): Hono {
  const app = new Hono()
  app.get('/assets/:file', (c) => {
    const found = assets.get(`/assets/${c.req.param('file')}`)
    if (found === undefined) return respond(notFound)
    return new Response(found.text, {
      headers: {
        'content-type': found.type,
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
      },
    })
  })
  return app
}
