import type { Hono } from 'hono'
import type { BillingCore } from '../billing/types.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { isUuid } from '../kernel/ids.ts'
import { quotaUsageView, usageResultView } from '../wire/usage.ts'
import { usageBody } from './api-input.ts'
import { readJson } from './api-request.ts'
import { json, onlyAllow } from './respond.ts'

/** A thousand records, each as long as it may be. */
const largestBodyBytes = 1024 * 1024

/** `/usage` of the management API, and the quotas of a subscription. */
export function usageRoutes(api: Hono, core: BillingCore): void {
  api.post('/usage', async (c) => {
    const body = await readJson(c, largestBodyBytes)
    const results = (await core.usage.record(usageBody(body))).map(usageResultView)
    return json(200, Array.isArray(body) ? { data: results } : results[0])
  })
  api.get('/subscriptions/:id/usage', async (c) => {
    const id = c.req.param('id')
    const quotas = await core.usage.get(id)
    if (quotas.length === 0 && !(await isSubscription(core, id))) {
      throw new QuittanceError('subscription_not_found', 'there is no subscription with this id')
    }
    return json(200, { data: quotas.map(quotaUsageView) })
  })
  api.all('/usage', onlyAllow('POST'))
  api.all('/subscriptions/:id/usage', onlyAllow('GET, HEAD'))
}

async function isSubscription(core: BillingCore, id: string): Promise<boolean> {
  return isUuid(id) && (await core.subscriptions.get(id)) !== undefined
}
