import type { Context } from 'hono'

/**
 * Whether a browser sent this from a page of ours. Over plain HTTP browsers send only the origin: it
 * must be the configured one, not that of `Host`.
 */
export function isSameOrigin(c: Context, origin: string): boolean {
  const site = c.req.header('sec-fetch-site')
  return site === undefined ? c.req.header('origin') === origin : site === 'same-origin'
}
