import { newUuid } from '../../../src/kernel/ids.ts'
import type { StandInReply } from '../../support/stand-in.ts'
import { intentOf, methodOf, refundOf, sessionOf, type Order, type OrderRefund } from './order.ts'
import { intervalUnits } from '../../../src/subscriptions/subscription.ts'
import { createLives, type Lives, type Plan } from './life.ts'
import { listReply, stripeError, type StripeRequest } from './request.ts'

const apiVersion = '2026-10-28.endive'

export interface MadeEvent {
  readonly id: string
  readonly type: string
  readonly created: number
  readonly object: 'event'
  readonly data: { readonly object: object; readonly previous_attributes?: object }
}

interface Endpoint {
  readonly id: string
  readonly url: string
  readonly enabled_events: readonly string[]
  readonly api_version: string
  readonly status: 'enabled' | 'disabled'
  readonly created: number
}

/** What Stripe keeps, and what its events tell of it. */
export interface StripeState {
  readonly orders: readonly Order[]
  readonly events: readonly MadeEvent[]
  readonly mostPerPage: number | undefined
  /** The subscriptions that were begun. */
  readonly lives: Lives
  /** Those whose saved card was detached. */
  readonly detached: Set<Order>
  /** Payments whose checkout was refused because of its customer. */
  readonly refusedCustomers: Set<string>
  /** Refunds wait at the bank until they are completed. */
  refundsWait: boolean
  /** With which charges of saved cards are declined. */
  declineCode: string | undefined
  seconds(): number
  find(fits: (order: Order) => boolean): Order | undefined
  open(paymentId: string, form: StripeRequest['form']): Order
  charge(paymentId: string, form: StripeRequest['form']): Order
  end(order: Order, state: 'expired' | 'canceled'): void
  pay(order: Order, how: 'at_once' | 'slowly'): void
  decline(order: Order): void
  refund(order: Order, amount: bigint, form?: StripeRequest['form']): OrderRefund
  completeRefunds(order: Order): void
  left(order: Order): bigint
  endpointReply(request: StripeRequest, id: string): StandInReply
}

export interface StripeStandInOptions {
  /** One word: each account has keys of its own. */
  readonly account?: string
  readonly now?: () => Date
  /** Stripe gives up to 100. */
  readonly mostPerPage?: number
}

export function createState({
  now = () => new Date(),
  mostPerPage,
}: StripeStandInOptions): StripeState {
  const orders: Order[] = []
  const events: MadeEvent[] = []
  const seconds = () => Math.floor(now().getTime() / 1000)
  const tell = (type: string, object: object, previous?: object) => {
    const id = `evt_${newUuid().replaceAll('-', '')}`
    const more = {
      api_version: apiVersion,
      livemode: false,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
    }
    const data = { object, ...(previous !== undefined && { previous_attributes: previous }) }
    events.push({ id, object: 'event', ...more, created: seconds(), data, type })
  }
  const add = (order: Order) => {
    orders.push(order)
    return order
  }
  const lives = createLives({ seconds, tell })
  const state: StripeState = {
    lives,
    orders,
    events,
    mostPerPage,
    detached: new Set(),
    refusedCustomers: new Set(),
    refundsWait: false,
    declineCode: undefined,
    seconds,
    find: (fits) => orders.findLast(fits),
    open: (paymentId, form) => add(newOrder('session', { paymentId, form, createdAt: seconds() })),
    charge: (paymentId, form) => {
      const order = add(newOrder('intent', { paymentId, form, createdAt: seconds() }))
      order.tried = true
      const asks = order.method.includes('authenticationRequired')
      const declines = order.method.includes('chargeDeclined') || state.declineCode !== undefined
      if (declines || (asks && form.has('off_session'))) {
        order.declineCode = declines ? state.declineCode : 'authentication_required'
        state.decline(order)
      } else if (asks) order.waiting = true
      else state.pay(order, 'at_once')
      return order
    },
    end: (order, to) => {
      order.state = to
      order.waiting = false
      if (order.kind === 'session') tell('checkout.session.expired', sessionOf(order))
      else tell('payment_intent.canceled', intentOf(order))
    },
    pay: (order, how) => {
      Object.assign(order, { tried: true, declined: false, waiting: false })
      const { recurring } = order
      if (recurring !== null) {
        order.state = 'paid'
        lives.begin(order.input, recurring)
        tell('checkout.session.completed', sessionOf(order))
        return
      }
      order.state = how === 'slowly' ? 'undecided' : 'paid'
      const type = how === 'slowly' ? 'processing' : 'succeeded'
      tell(`payment_intent.${type}`, intentOf(order))
      if (order.kind === 'intent') return
      if (order.saveCard) tell('payment_method.attached', methodOf(order))
      tell('checkout.session.completed', sessionOf(order))
    },
    decline: (order) => {
      const wasSettling = order.state === 'undecided'
      Object.assign(order, { tried: true, declined: true, waiting: false })
      if (wasSettling) order.state = 'unpaid'
      // The intent of an invoice names no payment.
      const bare = order.recurring !== null && { metadata: {} }
      tell('payment_intent.payment_failed', { ...intentOf(order), ...bare })
      if (wasSettling) tell('checkout.session.async_payment_failed', sessionOf(order))
    },
    refund: (order, amount, form) => {
      const refund: OrderRefund = {
        id: `re_${order.input.idPart}${order.refunds.length + 1}`,
        amount,
        created: seconds(),
        metadata: metadataOf(form),
        reason: form?.get('reason')?.[0] ?? null,
        status: state.refundsWait ? 'pending' : 'succeeded',
      }
      order.refunds.push(refund)
      tell('refund.created', refundOf(order, refund))
      return refund
    },
    completeRefunds: (order) => {
      for (const refund of order.refunds.filter(({ status }) => status === 'pending')) {
        refund.status = 'succeeded'
        tell('refund.updated', refundOf(order, refund))
      }
    },
    left: ({ input, refunds }) =>
      refunds
        .filter(({ status }) => status !== 'failed')
        .reduce((left, { amount }) => left - amount, input.amount),
    endpointReply: endpointsOf(seconds),
  }
  return state
}

interface NewOrder {
  readonly paymentId: string
  readonly form: StripeRequest['form']
  readonly createdAt: number
}

function newOrder(kind: Order['kind'], { paymentId, form, createdAt }: NewOrder): Order {
  const field = (name: string) => form.get(name)?.[0]
  const idPart = paymentId.replaceAll('-', '')
  const price = 'line_items[0][price_data]'
  return {
    kind,
    input: {
      paymentId,
      idPart,
      amount: BigInt(field('amount') ?? field(`${price}[unit_amount]`) ?? 0),
      currency: field('currency') ?? field(`${price}[currency]`) ?? '',
      sessionId: `cs_test_${idPart}`,
      intentId: `pi_${idPart}`,
      live: false,
      createdAt,
    },
    returnUrl: field('success_url') ?? field('return_url') ?? '',
    expiresAt: Number(field('expires_at') ?? 0),
    saveCard: form.has('payment_intent_data[setup_future_usage]'),
    method: field('payment_method') ?? `pm_${idPart}`,
    customer: field('customer') ?? null,
    recurring: planOf(field),
    state: 'open',
    tried: false,
    declined: false,
    declineCode: undefined,
    waiting: false,
    refunds: [],
  }
}

function planOf(field: (name: string) => string | undefined): Plan | null {
  const recurring = 'line_items[0][price_data][recurring]'
  const unit = intervalUnits.find((one) => one === field(`${recurring}[interval]`))
  if (unit === undefined) return null
  const trialEnd = field('subscription_data[trial_end]')
  return {
    every: { unit, count: Number(field(`${recurring}[interval_count]`)) },
    trialEndsAt: trialEnd === undefined ? null : Number(trialEnd),
  }
}

function metadataOf(form: StripeRequest['form'] | undefined): Readonly<Record<string, string>> {
  const fields = Array.from(form ?? [], ([name, [value = '']]) => ({ name, value }))
  return Object.fromEntries(
    fields
      .filter(({ name }) => name.startsWith('metadata['))
      .map(({ name, value }) => [name.slice('metadata['.length, -1), value]),
  )
}

function endpointsOf(seconds: () => number): StripeState['endpointReply'] {
  const endpoints = new Map<string, Endpoint>()
  const shown = (endpoint: Endpoint) => ({
    object: 'webhook_endpoint',
    livemode: false,
    ...endpoint,
  })
  return ({ method, form, query }, id) => {
    const known = endpoints.get(id)
    if (method === 'GET') {
      const listed = Array.from(endpoints.values(), (endpoint) => ({
        id: endpoint.id,
        created: endpoint.created,
        body: shown(endpoint),
      }))
      return listReply(listed.toReversed(), query)
    }
    if (id !== '' && known === undefined) return stripeError(404, { code: 'resource_missing' })
    if (method === 'DELETE') {
      endpoints.delete(id)
      return { body: { id, object: 'webhook_endpoint', deleted: true } }
    }
    const endpoint: Endpoint = {
      id: known?.id ?? `we_${newUuid().replaceAll('-', '')}`,
      url: form.get('url')?.[0] ?? '',
      enabled_events: form.get('enabled_events[]') ?? [],
      api_version: known?.api_version ?? form.get('api_version')?.[0] ?? '',
      status: statusOf(form.get('disabled')?.[0]) ?? known?.status ?? 'enabled',
      created: known?.created ?? seconds(),
    }
    endpoints.set(endpoint.id, endpoint)
    const secret = known === undefined && { secret: `whsec_of_${endpoint.id}` }
    return { body: { ...shown(endpoint), ...secret } }
  }
}

function statusOf(disabled: string | undefined): Endpoint['status'] | undefined {
  if (disabled === undefined) return undefined
  return disabled === 'true' ? 'disabled' : 'enabled'
}
