import type { StandInReply } from '../../support/stand-in.ts'
import type { Asking } from '../provider-stand-in.ts'
import {
  customerOf,
  errorOf,
  intentOf,
  methodOf,
  refundOf,
  sessionOf,
  type Order,
} from './order.ts'
import {
  chargeRules,
  endpointRules,
  fieldFaults,
  listReply,
  listRules,
  refundRules,
  recurringRules,
  sessionRules,
  stripeError,
  type Rules,
  type StripeRequest,
} from './request.ts'
import type { Handler, Route } from './route.ts'
import type { StripeState } from './state.ts'
import { invoiceIntent, subscriptionRoutes } from './subscription-routes.ts'

const idle: Rules = {}
const only = (value: string) => new RegExp(`^${value}$`)
const missing = (what: string, param?: string) =>
  stripeError(param === undefined ? 404 : 400, {
    code: 'resource_missing',
    message: `No such ${what}`,
    ...(param !== undefined && { param }),
  })
const body = (object: object): StandInReply => ({ body: object })

function reading(asking: Asking, faults: readonly string[], perform: Route['perform']): Route {
  const refusal = stripeError(403, { code: 'more_permissions_required' })
  return { asking, faults, refusal, namesPayment: true, perform }
}

const readSession: Handler = (state, request, id) =>
  reading('poll', fieldFaults(request.query, { 'expand[]?': only('payment_intent') }), () => {
    const order = state.find((one) => one.kind === 'session' && one.input.sessionId === id)
    if (order === undefined) return missing('checkout.session')
    const isExpanded = request.query.has('expand[]') && order.tried
    return body({ ...sessionOf(order), ...(isExpanded && { payment_intent: intentOf(order) }) })
  })

const listSessions: Handler = (state, request) => ({
  ...reading('poll', fieldFaults(request.query, listRules), () => {
    const sessions = state.orders
      .filter(({ kind }) => kind === 'session')
      .map((order) => ({
        id: order.input.sessionId,
        created: order.input.createdAt,
        body: sessionOf(order),
      }))
    return listReply(sessions.toReversed(), request.query, state.mostPerPage)
  }),
  namesPayment: false,
})

const readIntent: Handler = (state, request, id) => {
  const order = state.find((one) => one.input.intentId === id)
  // What a callback's interpretation reads is an intent of a checkout.
  const asking = order?.kind === 'intent' ? 'poll' : 'look_up'
  return reading(
    asking,
    fieldFaults(request.query, { 'expand[]?': only('payment_method') }),
    () => {
      if (order === undefined) return invoiceIntent(state, id) ?? missing('payment_intent')
      if (!order.tried || order.recurring !== null) return missing('payment_intent')
      const isExpanded = request.query.has('expand[]') && order.state === 'paid'
      return body({ ...intentOf(order), ...(isExpanded && { payment_method: methodOf(order) }) })
    },
  )
}

const intentRules = { ...listRules, 'customer?': /^cus_\w+$/ }

const listIntents: Handler = (state, request) => ({
  ...reading('poll', fieldFaults(request.query, intentRules), () => {
    const [wanted] = request.query.get('customer') ?? []
    const intents = state.orders
      .filter(({ tried }) => tried)
      .filter((order) => wanted === undefined || customerOf(order) === wanted)
      .map((order) => ({
        id: order.input.intentId,
        created: order.input.createdAt,
        body: intentOf(order),
      }))
    return listReply(intents.toReversed(), request.query, state.mostPerPage)
  }),
  namesPayment: false,
})

/** No checkout here only saves a card. */
const listSetups: Handler = (state, request) => {
  const rules = { ...listRules, payment_method: /^pm_\w+$/ }
  return {
    ...reading('look_up', fieldFaults(request.query, rules), () =>
      listReply([], request.query, state.mostPerPage),
    ),
    namesPayment: false,
  }
}

const listRefunds: Handler = (state, request) => {
  const rules = { ...listRules, 'payment_intent?': /^pi_\w+$/, 'charge?': /^(?:ch|py)_\w+$/ }
  const asking = request.query.has('charge') ? 'look_up' : 'poll'
  return reading(asking, fieldFaults(request.query, rules), () => {
    const [intent] = request.query.get('payment_intent') ?? []
    const [charge] = request.query.get('charge') ?? []
    const order = state.find(
      ({ input }) => input.intentId === intent || `ch_${input.idPart}` === charge,
    )
    const refunds = (order?.refunds ?? []).map((refund) => ({
      id: refund.id,
      created: refund.created,
      body: order === undefined ? {} : refundOf(order, refund),
    }))
    return listReply(refunds.toReversed(), request.query, state.mostPerPage)
  })
}

const openSession: Handler = (state, request) => {
  const { form } = request
  const [id = ''] = form.get('client_reference_id') ?? []
  const ends = Number(form.get('expires_at')?.[0])
  const life = ends - state.seconds()
  const isRecurring = form.get('mode')?.[0] === 'subscription'
  const saves = form.has('payment_intent_data[setup_future_usage]')
  const data = isRecurring ? 'subscription_data' : 'payment_intent_data'
  const trialEnd = form.get('subscription_data[trial_end]')?.[0]
  const trial = Number(trialEnd) - state.seconds()
  const faults = [
    ...fieldFaults(form, isRecurring ? recurringRules : sessionRules),
    ...(form.get('metadata[payment_id]')?.[0] === id ? [] : ['the references differ']),
    ...(form.get(`${data}[metadata][payment_id]`)?.[0] === id
      ? []
      : ['the intent gets another reference']),
    ...(trialEnd === undefined || trial >= 48 * 3600 ? [] : [`trial_end is ${trial} s ahead`]),
    ...(life >= 1800 && life <= 86_400 ? [] : [`expires_at is ${life} s ahead`]),
    ...customerFaults(form, saves),
    ...keyFaults(request, `checkout:${id}:${state.refusedCustomers.has(id) ? 2 : 1}`),
  ]
  return {
    asking: 'checkout',
    faults,
    refusal: stripeError(400, { code: 'amount_too_small', param: 'line_items[0]' }),
    namesPayment: true,
    perform: () => {
      const [customer] = form.get('customer') ?? []
      if (customer === undefined || state.find((one) => customerOf(one) === customer)) {
        return body(sessionOf(state.open(id, form)))
      }
      state.refusedCustomers.add(id)
      return missing('customer', 'customer')
    },
  }
}

/** https://docs.stripe.com/api/checkout/sessions/create */
function customerFaults(form: StripeRequest['form'], saves: boolean): readonly string[] {
  const isMade = form.has('customer_creation')
  if (form.has('customer')) {
    const twice = isMade || form.has('customer_email')
    return twice ? ['a customer is named and described'] : []
  }
  return saves === isMade ? [] : ['a card is saved for no customer']
}

const expireSession: Handler = (state, request, id) => ({
  asking: 'close',
  faults: fieldFaults(request.form, idle),
  refusal: stripeError(400, { message: 'This Checkout Session cannot be expired.' }),
  namesPayment: true,
  perform: () => {
    const order = state.find((one) => one.kind === 'session' && one.input.sessionId === id)
    if (order === undefined) return missing('checkout.session')
    if (order.state !== 'open') {
      const message = 'Only Checkout Sessions with a status in ["open"] can be expired.'
      return stripeError(400, { message })
    }
    state.end(order, 'expired')
    return body(sessionOf(order))
  },
})

const cancelIntent: Handler = (state, request, id) => ({
  asking: 'close',
  faults: fieldFaults(request.form, idle),
  refusal: stripeError(400, { code: 'payment_intent_unexpected_state' }),
  namesPayment: true,
  perform: () => {
    const order = state.find(({ input, tried }) => tried && input.intentId === id)
    if (order === undefined) return missing('payment_intent')
    if (order.state !== 'open') return stripeError(400, { code: 'payment_intent_unexpected_state' })
    state.end(order, 'canceled')
    return body(intentOf(order))
  },
})

const makeRefund: Handler = (state, request) => {
  const { form } = request
  const [id] = form.get('metadata[refund_id]') ?? []
  const [intent] = form.get('payment_intent') ?? []
  const order = state.find(({ input }) => input.intentId === intent)
  const isSame = order?.input.paymentId === form.get('metadata[payment_id]')?.[0]
  return {
    asking: 'refund',
    faults: [
      ...fieldFaults(form, refundRules),
      ...keyFaults(request, `refund:${id}`),
      ...(order === undefined || isSame ? [] : ['the refund names another payment']),
    ],
    refusal: stripeError(400, { code: 'insufficient_funds' }),
    namesPayment: true,
    perform: () => {
      if (order === undefined) return missing('payment_intent')
      const left = state.left(order)
      const amount = BigInt(form.get('amount')?.[0] ?? 0)
      if (order.state !== 'paid') return stripeError(400, { param: 'payment_intent' })
      if (left === 0n) return stripeError(400, { code: 'charge_already_refunded' })
      if (amount > left) return stripeError(400, { param: 'amount' })
      return body(refundOf(order, state.refund(order, amount, form)))
    },
  }
}

const chargeCard: Handler = (state, request) => {
  const { form } = request
  const [id = ''] = form.get('metadata[payment_id]') ?? []
  const [method = ''] = form.get('payment_method') ?? []
  const [customer] = form.get('customer') ?? []
  const owner = ownerOf(state, method)
  return {
    asking: 'charge',
    faults: [...fieldFaults(form, chargeRules), ...keyFaults(request, `charge:${id}`)],
    refusal: stripeError(400, { code: 'resource_missing', param: 'payment_method' }),
    namesPayment: true,
    perform: () => {
      if (owner !== undefined && state.detached.has(owner)) return missing('PaymentMethod')
      if (owner !== undefined && customer !== customerOf(owner)) {
        return stripeError(400, { param: 'payment_method', message: 'It is of another customer.' })
      }
      const order = state.charge(id, form)
      return order.declined ? declinedReply(order) : body(intentOf(order))
    },
  }
}

const ownerOf = (state: StripeState, method: string) =>
  state.find(({ input, saveCard }) => saveCard && `pm_${input.idPart}` === method)

/** A card as it is fetched: once it is detached, without its customer. */
const methodReply = (state: StripeState, order: Order): StandInReply =>
  body({ ...methodOf(order), ...(state.detached.has(order) && { customer: null }) })

const detachCard: Handler = (state, request, id) => ({
  asking: 'remove',
  faults: fieldFaults(request.form, idle),
  refusal: stripeError(403, { code: 'more_permissions_required' }),
  namesPayment: true,
  perform: () => {
    const order = ownerOf(state, id)
    if (order === undefined) return missing('PaymentMethod')
    if (state.detached.has(order)) {
      const message = 'The payment method you provided is not attached to a customer.'
      return stripeError(400, { message })
    }
    state.detached.add(order)
    return methodReply(state, order)
  },
})

const readCard: Handler = (state, request, id) =>
  reading('look_up', fieldFaults(request.query, idle), () => {
    const order = ownerOf(state, id)
    return order === undefined ? missing('PaymentMethod') : methodReply(state, order)
  })

/** Stripe's own test cards are named after what becomes of them. */
function declinedReply(order: Order): StandInReply {
  return stripeError(402, { ...errorOf(order), payment_intent: intentOf(order) })
}

/** Calls that make something must say under which key. */
function keyFaults({ headers }: StripeRequest, key: string): readonly string[] {
  const given = headers['idempotency-key']
  return given === key ? [] : [`the idempotency key is ${String(given)}`]
}

const endpoints: Handler = (state, request, id) => {
  const making = request.method === 'POST' && id === ''
  const more: Rules = making
    ? { api_version: only('2026-10-28\\.endive'), 'description?': /^.+$/ }
    : { 'disabled?': only('(?:true|false)') }
  const types = request.form.get('enabled_events[]') ?? []
  return {
    asking: 'endpoints',
    faults: [
      ...(request.method === 'POST'
        ? fieldFaults(request.form, { ...endpointRules, ...more })
        : fieldFaults(request.query, request.method === 'GET' ? listRules : idle)),
      ...(new Set(types).size === types.length ? [] : ['an event is enabled twice']),
    ],
    refusal: stripeError(400, { code: 'url_invalid', param: 'url' }),
    namesPayment: false,
    perform: () => state.endpointReply(request, id),
  }
}

const listEvents: Handler = (state, request) => {
  const types = request.query.get('types[]') ?? []
  const rules = { ...listRules, 'types[]': /^[a-z_.]+$/ }
  return {
    ...reading('events', fieldFaults(request.query, rules), () => {
      const listed = state.events
        .filter(({ type }) => types.includes(type))
        .map((event) => ({ id: event.id, created: event.created, body: event }))
      return listReply(listed.toReversed(), request.query, state.mostPerPage)
    }),
    ...(types.length > 20 && { faults: ['more than 20 types'] }),
    namesPayment: false,
  }
}

/** https://docs.stripe.com/api */
export const routes: readonly (readonly [method: string, path: RegExp, handler: Handler])[] = [
  ['POST', /^\/v1\/checkout\/sessions$/, openSession],
  ['GET', /^\/v1\/checkout\/sessions$/, listSessions],
  ['GET', /^\/v1\/checkout\/sessions\/(cs_\w+)$/, readSession],
  ['POST', /^\/v1\/checkout\/sessions\/(cs_\w+)\/expire$/, expireSession],
  ['POST', /^\/v1\/payment_intents$/, chargeCard],
  ['GET', /^\/v1\/payment_intents$/, listIntents],
  ['GET', /^\/v1\/setup_intents$/, listSetups],
  ['GET', /^\/v1\/payment_intents\/(pi_\w+)$/, readIntent],
  ['POST', /^\/v1\/payment_intents\/(pi_\w+)\/cancel$/, cancelIntent],
  ['POST', /^\/v1\/payment_methods\/(pm_\w+)\/detach$/, detachCard],
  ['GET', /^\/v1\/payment_methods\/(pm_\w+)$/, readCard],
  ['POST', /^\/v1\/refunds$/, makeRefund],
  ['GET', /^\/v1\/refunds$/, listRefunds],
  ['GET', /^\/v1\/events$/, listEvents],
  ['POST', /^\/v1\/webhook_endpoints$/, endpoints],
  ['GET', /^\/v1\/webhook_endpoints$/, endpoints],
  ['POST', /^\/v1\/webhook_endpoints\/(we_\w+)$/, endpoints],
  ['DELETE', /^\/v1\/webhook_endpoints\/(we_\w+)$/, endpoints],
  ...subscriptionRoutes,
]
