import assert from 'node:assert/strict'
import { z } from 'zod'
import { callDetailsSchema, callSchema } from '../../src/wire/call.ts'
import { eventSchema } from '../../src/wire/event.ts'
import { gatewaysSchema } from '../../src/wire/gateway.ts'
import { listedPaymentSchema } from '../../src/wire/listed-payment.ts'
import { pageSchema } from '../../src/wire/page.ts'
import { paymentDetailsSchema } from '../../src/wire/payment-details.ts'
import { paymentMethodSchema } from '../../src/wire/payment-method.ts'
import { paymentSchema } from '../../src/wire/payment.ts'
import { pollSchema } from '../../src/wire/poll.ts'
import { subscriptionDetailsSchema } from '../../src/wire/subscription-details.ts'
import { createdSubscriptionSchema, subscriptionSchema } from '../../src/wire/subscription.ts'
import { quotaUsageSchema, usageResultSchema } from '../../src/wire/usage.ts'

const all = <T extends z.ZodType>(row: T) => z.strictObject({ data: z.array(row) })
const heldSchema = z.strictObject({ held: z.string().nullable() })
const message = z.strictObject({ message: z.string() })
const refusal = message.extend({
  code: z.string().optional(),
  provider_code: z.string().optional(),
})

/** What each route of the management API answers where it does what is asked. */
export const answers: Readonly<Record<string, z.ZodType>> = {
  'POST /payments': paymentSchema,
  'GET /payments': pageSchema(listedPaymentSchema),
  'GET /payments/:id': paymentDetailsSchema,
  'POST /payments/:id/poll': pollSchema,
  'POST /payments/:id/cancel': paymentSchema,
  'POST /payments/:id/refunds': paymentSchema,
  'GET /payment-methods': pageSchema(paymentMethodSchema),
  'GET /payment-methods/:id': paymentMethodSchema,
  'DELETE /payment-methods/:id': paymentMethodSchema,
  'POST /subscriptions': createdSubscriptionSchema,
  'GET /subscriptions': pageSchema(subscriptionSchema),
  'GET /subscriptions/:id': subscriptionDetailsSchema,
  'POST /subscriptions/:id/cancel': subscriptionSchema,
  'POST /subscriptions/:id/pause': subscriptionSchema,
  'POST /subscriptions/:id/resume': subscriptionSchema,
  'POST /subscriptions/:id/sync': subscriptionSchema,
  'POST /subscriptions/:id/change': subscriptionSchema,
  'POST /subscriptions/:id/pay': paymentSchema,
  'POST /subscriptions/hold': heldSchema,
  'POST /subscriptions/release': heldSchema,
  'POST /usage': z.union([usageResultSchema, all(usageResultSchema)]),
  'GET /subscriptions/:id/usage': all(quotaUsageSchema),
  'GET /webhook-calls': pageSchema(callSchema),
  'GET /webhook-calls/:id': callDetailsSchema,
  'POST /webhook-calls/:id/replay': message,
  'GET /events': pageSchema(eventSchema),
  'GET /gateways': gatewaysSchema,
}

/** Fails if an answer has a field too many, one too few, or one of another form. */
export async function requireForm(method: string, path: string, answer: Response): Promise<void> {
  const body = await answer.clone().text()
  if (body === '') return
  const [first, id, ...rest] = (path.split('?')[0] ?? '').split('/').filter((part) => part !== '')
  const isVerb = id === 'hold' || id === 'release'
  const part = id === undefined ? [] : [isVerb ? id : ':id']
  const route = ['', first, ...part, ...rest].join('/')
  const schema = answer.ok ? answers[`${method} ${route}`] : refusal
  assert.ok(schema, `${method} ${route} is missing in the table of answers`)
  const { error } = schema.safeParse(JSON.parse(body))
  if (error !== undefined) throw new Error(`${method} ${path}: ${z.prettifyError(error)}: ${body}`)
}
