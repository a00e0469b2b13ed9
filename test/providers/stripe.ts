import { createHmac } from 'node:crypto'
import type { SignedCallback } from '../../src/gateways/gateway.ts'
import { stripe } from '../../src/gateways/stripe/index.ts'
import type { AskedRequest, StandInReply } from '../support/stand-in.ts'
import { startProvider, type ProviderStandIn, type Understood } from './provider-stand-in.ts'
import type { Lives } from './stripe/life.ts'
import type { Order } from './stripe/order.ts'
import { readRequest, stripeError, type StripeRequest } from './stripe/request.ts'
import type { Route } from './stripe/route.ts'
import { routes } from './stripe/routes.ts'
import { createState, type MadeEvent, type StripeStandInOptions } from './stripe/state.ts'

interface Keys {
  readonly key: string
  readonly signingSecret: string
}

const keysOf = (account: string): Keys => ({
  key: `sk_test_${account}_0123456789abcdef`,
  signingSecret: `whsec_${account}_0123456789abcdef`,
})

const apiVersion = '2026-10-28.endive'

/** Another payment, for whose ids those of a reply are exchanged. */
const other = '0198f0aa-ffff-7fff-8fff-ffffffffffff'

export type { Ending } from './stripe/life.ts'
export type { StripeStandInOptions } from './stripe/state.ts'

export interface StripeStandIn extends ProviderStandIn {
  /** Refunds wait at the bank until `completeRefunds`. */
  refundsWait: boolean
  /** The payer pays by bank debit, which takes days: `pay` or `decline` decides then. */
  paySlowly(paymentId: string): void
  /** Everything that was told by callback, oldest first. */
  readonly events: readonly MadeEvent[]
  /** The subscriptions that were begun, and what can happen to them. */
  readonly lives: Lives
  /**
   * The callbacks about the payment, and about the subscription that it has begun, oldest first and
   * signed now: they can be delivered in any order.
   */
  callbacks(paymentId: string): readonly SignedCallback[]
}

/** Stripe on this machine: the part of its API that Quittance uses. */
export async function startStripe(options: StripeStandInOptions = {}): Promise<StripeStandIn> {
  const state = createState(options)
  const keys = keysOf(options.account ?? 'standin')
  const signed = (event: MadeEvent) => signedWith(keys, event)
  const faults: string[] = []
  const once = createOnce(() => state.seconds())
  const server = await startProvider({ understand: (asked) => understand(asked), faults })
  const understand = (asked: AskedRequest): Understood | undefined => {
    const request = readRequest(asked)
    const found = routeOf(state, request)
    if (found === undefined) {
      faults.push(`${request.method} ${request.path} is not known here`)
      return undefined
    }
    const wrong = [...headerFaults(asked, keys), ...found.faults]
    faults.push(...wrong.map((fault) => `${request.method} ${request.path}: ${fault}`))
    const [fault] = wrong
    const invalid = stripeError(400, { code: 'parameter_invalid', message: fault })
    const denied = stripeError(401, { message: 'Invalid API Key provided' })
    const bad = isAuthorized(asked, keys) ? invalid : denied
    let done: StandInReply | undefined
    const perform = () => {
      done ??= fault === undefined ? once(asked, () => found.perform()) : bad
      return done
    }
    return {
      asking: found.asking,
      perform,
      ...(found.namesPayment && { wrong: () => ofAnother(perform()) }),
      refusal: found.refusal,
    }
  }
  const order = (paymentId: string): Order => {
    const found = state.find(({ input }) => input.paymentId === paymentId)
    if (found === undefined) throw new Error(`nothing was asked for payment ${paymentId}`)
    return found
  }
  const latest = (paymentId: string, types: RegExp): MadeEvent => {
    const text = `"payment_intent":"${order(paymentId).input.intentId}"`
    const about = [`"payment_id":"${paymentId}"`, text]
    const found = state.events.findLast((event) => {
      const body = JSON.stringify(event)
      return types.test(event.type) && about.some((part) => body.includes(part))
    })
    if (found === undefined) throw new Error(`no callback has told anything of ${paymentId}`)
    return found
  }
  return {
    ...server,
    gateway: stripe,
    config: {
      signing_secret: keys.signingSecret,
      secret_key: keys.key,
      api_base: server.base,
    },
    events: state.events,
    lives: state.lives,
    callbacks: (paymentId) => {
      const { idPart } = order(paymentId).input
      const isAbout = (event: MadeEvent) => {
        const text = JSON.stringify(event.data)
        return text.includes(paymentId) || text.includes(idPart)
      }
      return state.events.filter(isAbout).map(signed)
    },
    get down() {
      return server.down
    },
    set down(down) {
      server.down = down
    },
    get refundsWait() {
      return state.refundsWait
    },
    set refundsWait(wait) {
      state.refundsWait = wait
    },
    pay: (paymentId) => state.pay(order(paymentId), 'at_once'),
    paySlowly: (paymentId) => state.pay(order(paymentId), 'slowly'),
    decline: (paymentId) => state.decline(order(paymentId)),
    declineCharges: (code) => {
      state.declineCode = code
    },
    expire: (paymentId) => state.end(order(paymentId), 'expired'),
    refundByHand: (paymentId, amount) => {
      state.refund(order(paymentId), amount)
    },
    completeRefunds: (paymentId) => state.completeRefunds(order(paymentId)),
    refunds: (paymentId) =>
      (state.find(({ input }) => input.paymentId === paymentId)?.refunds ?? []).map(
        ({ amount, status }) => ({ amount, status: status === 'succeeded' ? 'paid' : status }),
      ),
    charges: (paymentId) => state.orders.filter(isOf(paymentId, 'intent')).filter(isCharged).length,
    checkouts: (paymentId) => state.orders.filter(isOf(paymentId, 'session')).length,
    paymentCallback: (paymentId) =>
      signed(latest(paymentId, /^(?:checkout\.session|payment_intent)\./)),
    refundCallback: (paymentId) => signed(latest(paymentId, /^refund\./)),
  }
}

function isOf(paymentId: string, kind: Order['kind']) {
  return (order: Order) => order.kind === kind && order.input.paymentId === paymentId
}

function isCharged({ state }: Order): boolean {
  return state === 'paid' || state === 'undecided'
}

function routeOf(state: ReturnType<typeof createState>, request: StripeRequest): Route | undefined {
  for (const [method, path, handler] of routes) {
    const match = method === request.method ? request.path.match(path) : null
    if (match !== null) return handler(state, request, match[1] ?? '')
  }
  return undefined
}

function isAuthorized({ headers }: AskedRequest, { key }: Keys): boolean {
  return headers.authorization === `Bearer ${key}`
}

function headerFaults(asked: AskedRequest, keys: Keys): readonly string[] {
  const { headers, method } = asked
  const type = headers['content-type'] ?? ''
  const isForm = type.startsWith('application/x-www-form-urlencoded')
  const account = headers['stripe-account']
  return [
    ...(isAuthorized(asked, keys) ? [] : ['the key is not the one of this account']),
    ...(headers['stripe-version'] === apiVersion ? [] : ['another API version is asked for']),
    ...(method !== 'POST' || asked.body === '' || isForm ? [] : [`a body of type ${type}`]),
    ...(account === undefined ? [] : ['there are no connected accounts']),
  ]
}

interface Kept {
  readonly asked: string
  readonly reply: StandInReply
  readonly at: number
}

const day = 86_400

/** One thing under one key, for a day. https://docs.stripe.com/api/idempotent_requests */
function createOnce(seconds: () => number) {
  const kept = new Map<string, Kept>()
  return ({ headers, target, body }: AskedRequest, perform: () => StandInReply): StandInReply => {
    const name = headers['idempotency-key']
    if (typeof name !== 'string') return perform()
    const fields = Array.from(new URLSearchParams(body), (field) => field.join('=')).toSorted()
    const asked = [target, ...fields].join('\n')
    const known = kept.get(name)
    if (known === undefined || seconds() - known.at > day) {
      const reply = perform()
      kept.set(name, { asked, reply, at: seconds() })
      return reply
    }
    if (known.asked !== asked) return stripeError(400, { type: 'idempotency_error' })
    return { ...known.reply, headers: { ...known.reply.headers, 'idempotent-replayed': 'true' } }
  }
}

/** The reply with the ids of another payment: all ids here are made of the payment's own. */
function ofAnother({ body, ...reply }: StandInReply): StandInReply {
  const ids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
  const parts = /[0-9a-f]{32}/g
  const text = JSON.stringify(body)
    .replaceAll(ids, other)
    .replaceAll(parts, other.replaceAll('-', ''))
  return { ...reply, body: text }
}

/** Signed now, as each delivery is. https://docs.stripe.com/webhooks#verify-manually */
function signedWith({ signingSecret }: Keys, event: MadeEvent): SignedCallback {
  const body = JSON.stringify(event, null, 2)
  const at = Math.floor(Date.now() / 1000)
  const digest = createHmac('sha256', signingSecret).update(`${at}.${body}`).digest('hex')
  return {
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'stripe-signature': `t=${at},v1=${digest}`,
    },
    body,
  }
}
