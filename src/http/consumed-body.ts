import type { Context } from 'hono'
import { nodeRequest, type ReadFrom } from './read-body.ts'

interface Host {
  /** How to recognise this host app. */
  readonly is: (c: Context, from: ReadFrom) => boolean
  readonly fix: string
}

const hosts: readonly Host[] = [
  {
    is: (c) => Object.keys(c.req.bodyCache).length > 0,
    fix: 'in webhook.middleware read the body by c.req.arrayBuffer(), which keeps the exact bytes',
  },
  {
    is: (c) => 'originalUrl' in (nodeRequest(c) ?? {}),
    fix:
      'move app.use(express.json()), or whichever parser it was, below the line that mounts ' +
      'Quittance',
  },
  {
    is: (c, from) => from === 'web' && nodeRequest(c) !== undefined,
    fix:
      'move the Hono middleware that reads the body (c.req.json() and the like) below the route ' +
      'that calls billing.fetch(c.req.raw, c.env)',
  },
  {
    is: (_c, from) => from === 'web',
    fix:
      'call billing.fetch(request) before request.json(), request.text() or a body parser of the ' +
      'framework',
  },
  {
    is: () => true,
    fix:
      'move the body parser after the place where Quittance is mounted; in Fastify mount it in a ' +
      "plugin of its own: scope.removeAllContentTypeParsers(), then scope.addContentTypeParser('*'" +
      ', (request, payload, done) => done(null))',
  },
]

/** Which line to move in an app that reads a callback's body before us. */
export function keepBodyUnread(c: Context, from: ReadFrom): string {
  return hosts.find(({ is }) => is(c, from))?.fix ?? ''
}
