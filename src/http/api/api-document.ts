import { Hono } from 'hono'
import { makeOnce } from '../../kernel/make-once.ts'
import { onlyAllow, safeHeaders } from '../respond.ts'

/** Where the document is, below the management API. */
export const documentPath = '/openapi.json'

/** What the management API is, for programs that make clients: OpenAPI 3.1. It says no secret. */
export function apiDocument(): Hono {
  // Only where somebody asks for it: it is a large file.
  const document = makeOnce(async () => {
    const file = await import('./openapi.json', { with: { type: 'json' } })
    return JSON.stringify(file.default)
  })
  const app = new Hono()
  app.get(documentPath, async () => {
    const headers = { ...safeHeaders, 'content-type': 'application/json' }
    return new Response(await document.get(), { headers })
  })
  app.all(documentPath, onlyAllow('GET, HEAD'))
  return app
}
