import { createHash } from 'node:crypto'
import type { Operator } from '../billing/authenticate.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { ExcessOf } from './throttle.ts'

/** Whose token this is, while it holds: asks the database. */
export type FindOperator = (token: string) => Promise<Operator | undefined>

/** Whose token a request has; a `Response` for a sender who has tried too often. */
export type TokenHolder = (
  token: string,
  sender: string,
) => Promise<Operator | Response | undefined>

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
export function tokenHolder(find: FindOperator, excessOf: ExcessOf): TokenHolder {
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
