import { createHash } from 'node:crypto'
import { Hono } from 'hono'
import { notFound, onlyAllow, respond } from '../respond.ts'

export const assetsPath = '/billing/assets'

/** One of our scripts; its address changes with its text, so that it may be cached for ever. */
export interface Asset {
  /** The path that it is served at. */
  readonly path: string
  readonly text: string
}

export function script(name: string, text: string): Asset {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16)
  return { path: `${assetsPath}/${name}-${digest}.js`, text }
}

export function assetRoutes(assets: readonly Asset[]): Hono {
  const app = new Hono()
  const texts = new Map(assets.map(({ path, text }) => [path, text]))
  app.get('/:file', (c) => {
    const text = texts.get(c.req.path)
    return text === undefined ? respond(notFound) : new Response(text, { headers })
  })
  app.all('/:file', onlyAllow('GET, HEAD'))
  return app
}

const headers = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
} as const
