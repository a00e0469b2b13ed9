// Serves the route handlers of an app folder over HTTP, as Next.js routes to them:
//   node test/examples/serve-routes.ts examples/nextjs-shop
import { globSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

type Handler = (
  request: Request,
  context: { readonly params: Promise<Readonly<Record<string, string>>> },
) => Response | Promise<Response>
type Route = Readonly<Record<string, Handler | undefined>>

const { argv, env } = process
const folder = resolve(argv[2] ?? '.')
const { PORT = '3000' } = env
env['NEXT_RUNTIME'] = 'nodejs'

/** `/orders/[order]` is `/orders/:order` to Hono, `/billing/[...path]` is `/billing/*`. */
function patternOf(file: string): string {
  const path = file.replace(/\/?route\.ts$/, '')
  return `/${path.replaceAll(/\[\.\.\.\w+\]/g, '*').replaceAll(/\[(\w+)\]/g, ':$1')}`
}

const app = new Hono()
for (const file of globSync('**/route.ts', { cwd: join(folder, 'app') })) {
  const route = (await import(join(folder, 'app', file))) as Route
  app.all(patternOf(file), (c) => {
    // Next.js makes a HEAD of the GET, and answers 405 for what a route does not export.
    const { method } = c.req
    const handler = route[method] ?? (method === 'HEAD' ? route['GET'] : undefined)
    if (handler === undefined) return c.body(null, 405)
    return handler(c.req.raw, { params: Promise.resolve(c.req.param()) })
  })
}

const instrumentation = (await import(join(folder, 'instrumentation.ts'))) as {
  register(): Promise<void>
}
await instrumentation.register()
const server = serve({ fetch: app.fetch, port: Number(PORT) }, () => {
  process.stdout.write(`listening on http://localhost:${PORT}\n`)
})
process.once('SIGTERM', () => server.close()).once('SIGINT', () => process.kill(process.pid))
