import { createHash, timingSafeEqual } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { message } from '../intake/responses.ts'
import type { Secret } from '../kernel/secret.ts'
import { respond } from './respond.ts'

const unauthorized = message(401, 'a bearer token is required', { 'www-authenticate': 'Bearer' })

/** Lets only requests through that carry the token; digests are compared, in constant time. */
export function requireToken(token: Secret): MiddlewareHandler {
  const expected = digest(token.reveal())
  return async (c, next) => {
    const sent = /^bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
    if (sent === undefined || !timingSafeEqual(digest(sent), expected)) {
      return respond(unauthorized)
    }
    return next()
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
