import { z } from 'zod'
import { QuittanceError } from '../../kernel/errors.ts'
import { subscriptionFilters } from '../../subscriptions/subscription.ts'
import { pageSchema, pageView } from '../../wire/page.ts'
import {
  subscriptionDetailsSchema,
  subscriptionDetailsView,
} from '../../wire/subscription-details.ts'
import {
  createdSubscriptionSchema,
  createdSubscriptionView,
  subscriptionSchema,
  subscriptionView,
} from '../../wire/subscription.ts'
import { noFields, subscriptionBody } from './bodies.ts'
import { idOf } from './params.ts'
import { subscriptionsQuery } from './queries.ts'
import { listQueryOf } from './read-request.ts'
import { gatewayListErrors } from './refusals.ts'
import { route } from './route.ts'

const held = z.strictObject({ held: z.string().nullable() })

/** `/subscriptions` of the management API, but for what is asked of one. */
export const subscriptionRoutes = [
  route({
    name: 'createSubscription',
    method: 'POST',
    path: '/subscriptions',
    summary: 'Makes a subscription, of a plan or of an amount and a period',
    description: 'With an `id` of yours it may be repeated.',
    body: subscriptionBody('create'),
    answers: { 201: createdSubscriptionSchema },
    errors: [
      'subscription_invalid',
      'subscription_exists',
      'gateway_unknown',
      'gateway_not_configured',
      'operation_unsupported',
      'payment_method_unusable',
      'return_url_not_allowed',
      'checkout_refused',
      'checkout_unknown',
    ],
    handle: async ({ core, body }) => {
      const created = await core.subscriptions.create(body)
      return { status: 201, body: createdSubscriptionView(created) }
    },
  }),
  route({
    name: 'listSubscriptions',
    method: 'GET',
    path: '/subscriptions',
    summary: 'Lists subscriptions, newest first',
    query: subscriptionsQuery,
    answers: { 200: pageSchema(subscriptionSchema) },
    errors: gatewayListErrors,
    handle: async ({ core, query }) => {
      const page = await core.subscriptions.list(listQueryOf(core, subscriptionFilters, query))
      return { status: 200, body: pageView(page, subscriptionView) }
    },
  }),
  route({
    name: 'getSubscription',
    method: 'GET',
    path: '/subscriptions/{id}',
    summary: 'One subscription with its history; of long lists the last hundred',
    params: idOf('the subscription'),
    answers: { 200: subscriptionDetailsSchema },
    errors: ['subscription_not_found'],
    handle: async ({ core, params }) => {
      const found = await core.subscriptions.get(params.id)
      if (found === undefined) {
        throw new QuittanceError('subscription_not_found', 'there is no subscription with this id')
      }
      return { status: 200, body: subscriptionDetailsView(found) }
    },
  }),
  route({
    name: 'holdSubscriptions',
    method: 'POST',
    path: '/subscriptions/hold',
    summary: 'Stops all charges of periods, of every subscription',
    body: subscriptionBody('hold'),
    answers: { 200: held },
    errors: ['subscription_invalid'],
    handle: async ({ core, body: { reason } }) => {
      await core.subscriptions.hold(reason)
      return { status: 200, body: { held: reason } }
    },
  }),
  route({
    name: 'releaseSubscriptions',
    method: 'POST',
    path: '/subscriptions/release',
    summary: 'Lets the charges of periods go on',
    body: noFields,
    answers: { 200: held },
    handle: async ({ core }) => {
      await core.subscriptions.release()
      return { status: 200, body: { held: null } }
    },
  }),
]
