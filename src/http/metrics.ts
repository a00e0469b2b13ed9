import { Hono, type MiddlewareHandler } from 'hono'
import type { Metrics } from '../billing/types.ts'
import { onlyAllow, safeHeaders } from './respond.ts'

export const metricsPath = '/metrics'

/** What Prometheus reads. Without a guard anybody may. */
export function metricsRoute(
  read: () => Promise<Metrics>,
  guard: readonly MiddlewareHandler[] = [],
): Hono {
  const app = new Hono()
  for (const one of guard) app.use(metricsPath, one)
  app.get(metricsPath, async () => {
    const { contentType, text } = await read()
    return new Response(text, { headers: { 'content-type': contentType, ...safeHeaders } })
  })
  app.all(metricsPath, onlyAllow('GET, HEAD'))
  return app
}
