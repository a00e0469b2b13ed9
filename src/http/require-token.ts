import type { Context, MiddlewareHandler, Next } from 'hono'
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Operator } from '../billing/authenticate.ts'
import { message } from '../intake/responses.ts'
import { type Duration, seconds } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import type { Secret } from '../kernel/secret.ts'
import { tally } from '../kernel/tally.ts'
import { looksLikeToken } from '../operators/tokens.ts'
import { markOperator } from './operator-name.ts'
import { markReader } from './reader.ts'
import { respond } from './respond.ts'
import { senderAddress } from './sender-address.ts'
import { type ExcessOf, type Limits, inThisProcess } from './throttle.ts'

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

/** Whose token this is, while it holds: asks the database. */
type FindOperator = (token: string) => Promise<Operator | undefined>

/** Whose token a request has; a `Response` for a sender who has tried too often. */
type TokenHolder = (token: string, sender: string) => Promise<Operator | Response | undefined>

interface KnownToken {
  readonly operator: Operator
  readonly until: number
}

/** A token that is removed works for so long, at most. */
const keptFor: Duration = seconds(2)

/**
 * Looks tokens up. Nobody can guess one, and a right one is never refused, whatever others have sent
 * from its address, which may be a proxy's. However many strangers try, one connection to the
 * database is busy with it: `find` asks about many in one statement, one at a time.
 */
function tokenHolder(find: FindOperator, excessOf: ExcessOf): TokenHolder {
  // Only those that were right: no stranger can fill it.
  const known = new Map<string, KnownToken>()
  const underWay = new Map<string, Promise<Operator | undefined>>()

  const ask = async (token: string, key: string) => {
    // From before it is asked: it may be removed while the answer is on its way.
    const until = performance.now() + keptFor
    const operator = await find(token)
    if (operator === undefined) known.delete(key)
    else known.set(key, { operator, until })
    return operator
  }
  const askOnce = (token: string, key: string) => {
    const asked = ask(token, key).finally(() => underWay.delete(key))
    underWay.set(key, asked)
    return asked
  }

  return async (token, sender) => {
    const key = createHash('sha256').update(token).digest('hex')
    const before = known.get(key)
    if (before !== undefined && before.until > performance.now()) return before.operator
    const operator = await (underWay.get(key) ?? askOnce(token, key))
    return operator ?? excessOf(sender)
  }
}
