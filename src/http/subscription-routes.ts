import type { Hono } from 'hono'
import type { BillingCore } from '../billing/types.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { pageView } from '../wire/page.ts'
import { paymentView } from '../wire/payment.ts'
import { subscriptionDetailsView } from '../wire/subscription-details.ts'
import { createdSubscriptionView, subscriptionView } from '../wire/subscription.ts'
import { subscriptionBody, subscriptionsQuery } from './api-input.ts'
import { canonical, queryOf, readJson, readOptionalJson, requireNoFields } from './api-request.ts'
import { json, onlyAllow } from './respond.ts'

/** `/subscriptions` of the management API. */
export function subscriptionRoutes(api: Hono, core: BillingCore): void {
  const { subscriptions } = core
  api.post('/subscriptions', async (c) => {
    const created = await subscriptions.create(subscriptionBody('create', await readJson(c)))
    return json(201, createdSubscriptionView(created))
  })
  api.get('/subscriptions', async (c) => {
    const { managed_by: managedBy, ...rest } = queryOf(c, subscriptionsQuery)
    const query = canonical(core, { ...rest, managedBy })
    return json(200, pageView(await subscriptions.list(query), subscriptionView))
  })
  holdRoutes(api, core)
  api.get('/subscriptions/:id', async (c) => {
    const found = await subscriptions.get(c.req.param('id'))
    if (found === undefined) {
      throw new QuittanceError('subscription_not_found', 'there is no subscription with this id')
    }
    return json(200, subscriptionDetailsView(found))
  })
  wishRoutes(api, core)
  api.all('/subscriptions', onlyAllow('GET, HEAD, POST'))
  api.all('/subscriptions/:id', onlyAllow('GET, HEAD'))
}

function wishRoutes(api: Hono, { subscriptions }: BillingCore): void {
  api.post('/subscriptions/:id/cancel', async (c) => {
    const input = subscriptionBody('cancel', await readOptionalJson(c))
    return json(200, subscriptionView(await subscriptions.cancel(c.req.param('id'), input)))
  })
  api.post('/subscriptions/:id/pause', async (c) => {
    const input = subscriptionBody('pause', await readOptionalJson(c))
    return json(200, subscriptionView(await subscriptions.pause(c.req.param('id'), input)))
  })
  api.post('/subscriptions/:id/resume', async (c) => {
    await requireNoFields(c)
    return json(200, subscriptionView(await subscriptions.resume(c.req.param('id'))))
  })
  api.post('/subscriptions/:id/change', async (c) => {
    const input = subscriptionBody('change', await readJson(c))
    return json(200, subscriptionView(await subscriptions.change(c.req.param('id'), input)))
  })
  api.post('/subscriptions/:id/pay', async (c) => {
    const input = subscriptionBody('pay', await readOptionalJson(c))
    return json(200, paymentView(await subscriptions.pay(c.req.param('id'), input)))
  })
  api.post('/subscriptions/:id/sync', async (c) => {
    await requireNoFields(c)
    return json(200, subscriptionView(await subscriptions.sync(c.req.param('id'))))
  })
  for (const wish of ['cancel', 'pause', 'resume', 'change', 'pay', 'sync']) {
    api.all(`/subscriptions/:id/${wish}`, onlyAllow('POST'))
  }
}

/** They come before `/subscriptions/:id`, which would take them for an id. */
function holdRoutes(api: Hono, { subscriptions }: BillingCore): void {
  api.post('/subscriptions/hold', async (c) => {
    const { reason } = subscriptionBody('hold', await readOptionalJson(c))
    await subscriptions.hold(reason)
    return json(200, { held: reason })
  })
  api.post('/subscriptions/release', async (c) => {
    await requireNoFields(c)
    await subscriptions.release()
    return json(200, { held: null })
  })
  for (const path of ['/subscriptions/hold', '/subscriptions/release']) {
    api.all(path, onlyAllow('POST'))
  }
}
