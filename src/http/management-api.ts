import { Hono, type MiddlewareHandler } from 'hono'
import type { BillingCore } from '../billing/types.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { isUuid } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import { callDetailsView, callView } from '../wire/call.ts'
import { eventView } from '../wire/event.ts'
import { gatewayView } from '../wire/gateway.ts'
import { listedPaymentView } from '../wire/listed-payment.ts'
import { pageView } from '../wire/page.ts'
import { paymentDetailsView } from '../wire/payment-details.ts'
import { paymentMethodView } from '../wire/payment-method.ts'
import { paymentView } from '../wire/payment.ts'
import { pollView } from '../wire/poll.ts'
import { reviewView } from '../wire/review.ts'
import { apiError } from './api-errors.ts'
import {
  callsQuery,
  eventsQuery,
  handlingBody,
  paymentBody,
  paymentMethodsQuery,
  paymentsQuery,
  refundBody,
  reviewsQuery,
} from './api-input.ts'
import {
  canonical,
  defined,
  queryOf,
  readJson,
  readOptionalJson,
  requireNoFields,
} from './api-request.ts'
import { invoiceRoutes } from './invoice-routes.ts'
import { operatorOf } from './require-operator.ts'
import { json, onlyAllow } from './respond.ts'
import { subscriptionRoutes } from './subscription-routes.ts'
import { usageRoutes } from './usage-routes.ts'

export interface ManagementApiOptions {
  /** Lets only those through who may ask. */
  readonly guard: MiddlewareHandler
  readonly log: Log
}

/** `/billing/api`: for a merchant's server and an operator's scripts. */
export function managementApi(core: BillingCore, options: ManagementApiOptions): Hono {
  const api = new Hono()
  api.onError((error) => apiError(error, options.log))
  api.use(options.guard)
  for (const routes of allRoutes) routes(api, core)
  return api
}

const allRoutes = [
  paymentRoutes,
  refundRoutes,
  paymentMethodRoutes,
  subscriptionRoutes,
  usageRoutes,
  invoiceRoutes,
  callRoutes,
  reviewRoutes,
  eventRoutes,
  gatewayRoutes,
]

function paymentRoutes(api: Hono, core: BillingCore): void {
  api.post('/payments', async (c) => {
    const payment = await core.payments.create(paymentBody(await readJson(c)))
    return json(201, paymentView(payment))
  })
  api.get('/payments', async (c) => {
    const query = canonical(core, queryOf(c, paymentsQuery))
    return json(200, pageView(await core.payments.list(query), listedPaymentView))
  })
  api.get('/payments/:id', async (c) => {
    const id = c.req.param('id')
    const payment = await core.payments.get(id)
    if (payment === undefined) {
      throw new QuittanceError('payment_not_found', 'there is no payment with this id')
    }
    return json(200, paymentDetailsView(payment))
  })
  api.post('/payments/:id/poll', async (c) => {
    await requireNoFields(c)
    return json(200, pollView(await core.payments.poll(c.req.param('id'))))
  })
  api.post('/payments/:id/cancel', async (c) => {
    await requireNoFields(c)
    return json(200, paymentView(await core.payments.cancel(c.req.param('id'))))
  })
  api.all('/payments', onlyAllow('GET, HEAD, POST'))
  api.all('/payments/:id', onlyAllow('GET, HEAD'))
  for (const path of ['/payments/:id/poll', '/payments/:id/cancel']) {
    api.all(path, onlyAllow('POST'))
  }
}

function refundRoutes(api: Hono, core: BillingCore): void {
  api.post('/payments/:id/refunds', async (c) => {
    const input = refundBody(await readOptionalJson(c))
    return json(201, paymentView(await core.refunds.create(c.req.param('id'), input)))
  })
  api.all('/payments/:id/refunds', onlyAllow('POST'))
}

function paymentMethodRoutes(api: Hono, core: BillingCore): void {
  api.get('/payment-methods', async (c) => {
    const {
      payment_id: paymentId,
      customer_reference: customerReference,
      ...query
    } = queryOf(c, paymentMethodsQuery)
    const asked = canonical(core, { ...query, paymentId, customerReference })
    return json(200, pageView(await core.paymentMethods.list(asked), paymentMethodView))
  })
  api.get('/payment-methods/:id', async (c) => {
    const method = await core.paymentMethods.get(c.req.param('id'))
    if (method === undefined) {
      throw new QuittanceError('payment_method_not_found', 'there is no saved card with this id')
    }
    return json(200, paymentMethodView(method))
  })
  api.delete('/payment-methods/:id', async (c) => {
    await requireNoFields(c)
    return json(200, paymentMethodView(await core.paymentMethods.remove(c.req.param('id'))))
  })
  api.all('/payment-methods', onlyAllow('GET, HEAD'))
  api.all('/payment-methods/:id', onlyAllow('GET, HEAD, DELETE'))
}

function callRoutes(api: Hono, core: BillingCore): void {
  api.get('/webhook-calls', async (c) => {
    const { payment_id: paymentId, needs_review: needsReview, ...query } = queryOf(c, callsQuery)
    const page = await core.calls.list(canonical(core, { ...query, paymentId, needsReview }))
    return json(200, pageView(page, callView))
  })
  api.get('/webhook-calls/:id', async (c) => {
    const id = c.req.param('id')
    const call = await core.calls.get(id)
    if (call === undefined) throw noSuchCall()
    return json(200, callDetailsView(call))
  })
  api.post('/webhook-calls/:id/replay', async (c) => {
    const id = c.req.param('id')
    if (!isUuid(id)) throw noSuchCall()
    await core.calls.replay(id)
    return json(202, { message: 'the call is queued again' })
  })
  api.all('/webhook-calls', onlyAllow('GET, HEAD'))
  api.all('/webhook-calls/:id', onlyAllow('GET, HEAD'))
  api.all('/webhook-calls/:id/replay', onlyAllow('POST'))
}

function reviewRoutes(api: Hono, core: BillingCore): void {
  api.get('/reviews', async (c) => {
    const { payment_id: paymentId, ...query } = queryOf(c, reviewsQuery)
    const page = await core.reviews.list(canonical(core, { ...query, paymentId }))
    return json(200, pageView(page, reviewView))
  })
  api.get('/reviews/:id', async (c) => {
    const review = await core.reviews.get(c.req.param('id'))
    if (review === undefined) {
      throw new QuittanceError('review_not_found', 'there is no review with this id')
    }
    return json(200, reviewView(review))
  })
  api.post('/reviews/:id/handle', async (c) => {
    const operator = operatorOf(c)
    const given = handlingBody(await readJson(c))
    const input = operator === undefined ? given : { ...given, operator }
    return json(200, reviewView(await core.reviews.handle(c.req.param('id'), input)))
  })
  api.all('/reviews', onlyAllow('GET, HEAD'))
  api.all('/reviews/:id', onlyAllow('GET, HEAD'))
  api.all('/reviews/:id/handle', onlyAllow('POST'))
}

function eventRoutes(api: Hono, core: BillingCore): void {
  api.get('/events', async (c) => {
    const asked = queryOf(c, eventsQuery)
    const { payment_id: paymentId, subscription_id: subscriptionId, ...query } = asked
    const page = await core.events.list(defined({ ...query, paymentId, subscriptionId }))
    return json(200, pageView(page, eventView))
  })
  api.all('/events', onlyAllow('GET, HEAD'))
}

function gatewayRoutes(api: Hono, core: BillingCore): void {
  api.get('/gateways', () => {
    const views = Object.entries(core.gateways()).map(([name, it]) => [name, gatewayView(it)])
    return json(200, Object.fromEntries(views))
  })
  api.all('/gateways', onlyAllow('GET, HEAD'))
}

function noSuchCall(): QuittanceError {
  return new QuittanceError('call_not_found', 'there is no webhook call with this id')
}
