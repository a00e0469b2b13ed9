import { createHash, timingSafeEqual } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { message } from '../intake/responses.ts'
import type { Log } from '../kernel/log.ts'
import type { Secret } from '../kernel/secret.ts'
import { respond } from './respond.ts'
import { senderAddress } from './sender-address.ts'
import { tally } from '../kernel/tally.ts'
import { excessOver } from './throttle.ts'

const unauthorized = message(401, 'the bearer token is missing or wrong', {
  'www-authenticate': 'Bearer',
})

/**
 * Lets only requests through that carry the token; compares digests in constant time. After ten
 * requests in a minute without it, a sender gets 429. The right token is always let through,
 * because behind a proxy a guesser has the operator's address.
 */
export function requireToken(token: Secret, log: Log): MiddlewareHandler {
  const expected = digest(token.reveal())
  const excessOf = excessOver('10 per minute')
  const refused = tally(({ count, names }) =>
    log.warn(
      { refused: count, addresses: names },
      'the management API was asked without its token',
    ),
  )
  return async (c, next) => {
    const sent = /^bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
    if (sent !== undefined && timingSafeEqual(digest(sent), expected)) return next()
    const sender = senderAddress(c)
    refused.add(sender)
    return (await excessOf(sender)) ?? respond(unauthorized)
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
