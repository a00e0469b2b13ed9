import { createHash, timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler, Next } from 'hono'
import { message } from '../intake/responses.ts'
import type { Log } from '../kernel/log.ts'
import type { Secret } from '../kernel/secret.ts'
import { tally } from '../kernel/tally.ts'
import { looksLikeToken } from '../operators/tokens.ts'
import { markOperator } from './operator-name.ts'
import { tokenHolder, type FindOperator } from './operator-tokens.ts'
import { markReader } from './reader.ts'
import { respond } from './respond.ts'
import { senderAddress } from './sender-address.ts'
import { inThisProcess, type Limits } from './throttle.ts'

const unauthorized = message(401, 'the bearer token is missing or wrong', {
  'www-authenticate': 'Bearer',
})

const readOnly = message(403, 'this token may only read')

/** What a token lets whoever has it do. */
export interface ApiTokens {
  readonly all: readonly Secret[] | undefined
  /** Nothing that changes anything. */
  readonly reading?: readonly Secret[] | undefined
  /** Whose token one is that the database knows. */
  readonly ofOperators?: FindOperator | undefined
}

interface Watched {
  readonly log: Log
  /** What the tokens open, for the log. */
  readonly what?: string
  readonly limits?: Limits | undefined
}

/**
 * Lets only requests through that carry a token that allows them; compares digests in constant time.
 * After ten requests in a minute without one, a sender gets 429. The right token is always let
 * through, because behind a proxy a guesser has the operator's address.
 */
export function requireToken(
  { all, reading, ofOperators }: ApiTokens,
  { log, what = 'the management API', limits = inThisProcess }: Watched,
): MiddlewareHandler {
  const isAll = comparedWith(all)
  const isReading = comparedWith(reading)
  const excessOf = limits(`wrong tokens of ${what}`, '10 per minute')
  const holderOf = ofOperators && tokenHolder(ofOperators, excessOf)
  const refused = tally(({ count, names }) =>
    log.warn({ refused: count, addresses: names }, `${what} was asked without its token`),
  )
  return async (c, next) => {
    const sent = /^bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
    if (sent !== undefined && isAll(sent)) return next()
    if (sent !== undefined && isReading(sent)) return asReader(c, next)
    const sender = senderAddress(c)
    if (sent === undefined || holderOf === undefined || !looksLikeToken(sent)) {
      refused.add(sender)
      return (await excessOf(sender)) ?? respond(unauthorized)
    }
    const holder = await holderOf(sent, sender)
    if (holder === undefined || holder instanceof Response) {
      refused.add(sender)
      return holder ?? respond(unauthorized)
    }
    markOperator(c, holder.name)
    return holder.role === 'operator' ? next() : asReader(c, next)
  }
}

async function asReader(c: Context, next: Next): Promise<Response | undefined> {
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') return respond(readOnly)
  markReader(c)
  await next()
  return undefined
}

function comparedWith(tokens: readonly Secret[] = []): (sent: string) => boolean {
  const expected = tokens.map((token) => digest(token.reveal()))
  return (sent) => {
    const given = digest(sent)
    return expected.some((one) => timingSafeEqual(given, one))
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
