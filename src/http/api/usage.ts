import { z } from 'zod'
import type { BillingCore } from '../../billing/types.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import { readUuid } from '../../kernel/uuid.ts'
import {
  quotaUsageSchema,
  quotaUsageView,
  usageResultSchema,
  usageResultView,
} from '../../wire/usage.ts'
import { usageBody } from './bodies.ts'
import { idOf } from './params.ts'
import { route } from './route.ts'

const recorded = z.union([usageResultSchema, z.strictObject({ data: z.array(usageResultSchema) })])

/** `/usage` of the management API, and the quotas of a subscription. */
export const usageRoutes = [
  route({
    name: 'recordUsage',
    method: 'POST',
    path: '/usage',
    summary: 'Counts what was used: one record, or a list of them',
    description:
      'What has the same `key` counts once, so it may be repeated. A list is answered with a list, ' +
      'in the same order.',
    body: usageBody,
    isRecorded: false,
    answers: { 200: recorded },
    errors: ['usage_invalid', 'usage_unavailable'],
    handle: async ({ core, body: { records, isList } }) => {
      const results = (await core.usage.record(records)).map(usageResultView)
      const [first] = results
      return { status: 200, body: isList || first === undefined ? { data: results } : first }
    },
  }),
  route({
    name: 'getUsage',
    method: 'GET',
    path: '/subscriptions/{id}/usage',
    summary: 'The quotas of a subscription, and what is used of them',
    params: idOf('the subscription'),
    answers: { 200: z.strictObject({ data: z.array(quotaUsageSchema) }) },
    errors: ['subscription_not_found'],
    handle: async ({ core, params: { id } }) => {
      const quotas = await core.usage.get(id)
      if (quotas.length === 0 && !(await isSubscription(core, id))) {
        throw new QuittanceError('subscription_not_found', 'there is no subscription with this id')
      }
      return { status: 200, body: { data: quotas.map(quotaUsageView) } }
    },
  }),
]

async function isSubscription(core: BillingCore, id: string): Promise<boolean> {
  return readUuid(id) !== undefined && (await core.subscriptions.get(id)) !== undefined
}
