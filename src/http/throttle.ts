import { createHmac, randomBytes } from 'node:crypto'
import type { Context, MiddlewareHandler, Next } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import { message } from '../intake/responses.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { makeOnce } from '../kernel/make-once.ts'
import { respond } from './respond.ts'
import { senderAddress } from './sender-address.ts'

/** What `throttle` counts, and by whom. */
export interface ThrottleOptions {
  /**
   * `refused` (the default): only calls that are answered 4xx count, and only such answers turn
   * into 429, so a callback with a valid signature is always taken. `every_call`: each call counts
   * and may be refused, unread; the gateway has to deliver it again.
   */
  readonly count?: 'refused' | 'every_call'
  /**
   * Who sends; by default the address of the connection. Behind a proxy that is the proxy: return
   * the client that it names. Trust `X-Forwarded-For` only if your proxy sets it itself; otherwise
   * any sender can invent a new name for each call.
   */
  readonly sender?: (c: Context) => string
}

/**
 * Limits what one sender may send: middleware for `webhook.middleware`. Calls above the rate, such
 * as `60 per minute`, are answered 429 with `Retry-After`; 5xx answers never count. An IPv6 sender
 * is a whole /64 network; calls of unknown address share one budget. Counts are kept in this
 * process, at most 65,536 of them (25 MB): beyond, senders share. Error: `setting_invalid` for a
 * rate that is not `<number> per second|minute|hour|day`.
 */
export function throttle(rate: string, options: ThrottleOptions = {}): MiddlewareHandler {
  const { count = 'refused', sender = senderAddress } = options
  const excessOf = excessOver(rate)
  return count === 'every_call'
    ? async (c, next) => (await excessOf(sender(c))) ?? next()
    : async (c, next) => limitRefusals(c, next, { from: sender(c), excessOf })
}

/** Counts a call of this sender; returns the answer to give if that was one too many. */
export type ExcessOf = (from: string) => Promise<Response | undefined>

/** Makes budgets of a rate; `name` says of what. */
export type Limits = (name: string, rate: string) => ExcessOf

/** Nobody but this process counts. */
export const inThisProcess: Limits = (_name, rate) => excessOver(rate)

/** Who counts for several processes together. */
export interface CountedTogether {
  /** The same in all of them: by it a sender has the same budget everywhere. Nobody else knows it. */
  readonly seed: Buffer
  readonly open: (rate: Rate) => Promise<RateLimiterAbstract>
}

/** Budgets of this rate, one per sender. Error: `setting_invalid`. */
export function excessOver(rate: string, together?: CountedTogether): ExcessOf {
  const { points, seconds } = readRate(rate)
  const seed = together?.seed ?? randomBytes(16)
  const limiter = makeOnce(async () => {
    const library = await import('rate-limiter-flexible')
    return new library.RateLimiterMemory({ points, duration: seconds })
  })
  const ofAll = together && makeOnce(() => together.open({ points, seconds }))
  return async (from) => {
    const budget = budgetOf(from, seed)
    const excess = await spend(await limiter.get(), budget)
    // Who has tried too often here has done so everywhere: a flood asks nobody else.
    if (excess !== undefined || ofAll === undefined) return excess
    // While nobody answers for all, each counts by itself.
    return ofAll
      .get()
      .then((one) => spend(one, budget))
      .catch(() => undefined)
  }
}

async function limitRefusals(
  c: Context,
  next: Next,
  { from, excessOf }: { readonly from: string; readonly excessOf: ExcessOf },
): Promise<void> {
  const thrown = await refusalThrownBy(next)
  const status = thrown?.status ?? c.res.status
  const excess = status >= 400 && status < 500 ? await excessOf(from) : undefined
  // Set, not returned: it replaces an answer that is there already.
  if (excess !== undefined) c.res = excess
  else if (thrown !== undefined) throw thrown
}

/** Other middleware may refuse by throwing. */
async function refusalThrownBy(next: Next): Promise<HTTPException | undefined> {
  try {
    await next()
    return undefined
  } catch (error) {
    if (error instanceof HTTPException) return error
    throw error
  }
}

async function spend(limiter: RateLimiterAbstract, budget: string): Promise<Response | undefined> {
  try {
    await limiter.consume(budget)
    return undefined
  } catch (error) {
    if (error instanceof Error) throw error
    const { msBeforeNext } = error as RateLimiterRes
    const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
    return respond(message(429, 'too many requests', { 'retry-after': String(seconds) }))
  }
}

/** One of 65,536: a flood from ever new addresses must not fill the memory. Not predictable. */
function budgetOf(sender: string, seed: Buffer): string {
  return createHmac('sha256', seed).update(sender).digest('hex').slice(0, 4)
}

const secondsIn: Readonly<Record<string, number>> = {
  second: 1,
  minute: 60,
  hour: 3600,
  day: 86_400,
}
const rateGrammar = /^\s*(\d+)\s*(?:per|\/)\s*(?:1\s+)?(second|minute|hour|day)s?\s*$/i

export interface Rate {
  readonly points: number
  readonly seconds: number
}

function readRate(rate: string): Rate {
  const [, number, unit = ''] = rateGrammar.exec(rate) ?? []
  const points = Number(number)
  const seconds = secondsIn[unit.toLowerCase()]
  if (Number.isSafeInteger(points) && points > 0 && seconds !== undefined) {
    return { points, seconds }
  }
  throw new QuittanceError(
    'setting_invalid',
    `throttle takes a rate such as \`60 per minute\`, got ${JSON.stringify(rate)}`,
    { fix: 'Write a whole number above 0, `per`, and second, minute, hour or day.' },
  )
}
