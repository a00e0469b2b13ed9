import { paymentSchema, paymentView } from '../../wire/payment.ts'
import { subscriptionSchema, subscriptionView } from '../../wire/subscription.ts'
import { noFields, subscriptionBody } from './bodies.ts'
import { idOf } from './params.ts'
import { providerErrors } from './refusals.ts'
import { route } from './route.ts'

const ofSubscription = idOf('the subscription')

/** What the management API can be asked of one subscription. */
export const subscriptionWishRoutes = [
  route({
    name: 'cancelSubscription',
    method: 'POST',
    path: '/subscriptions/{id}/cancel',
    summary: 'Ends a subscription, with its period or now',
    params: ofSubscription,
    body: subscriptionBody('cancel'),
    answers: { 200: subscriptionSchema },
    errors: [
      'subscription_not_found',
      'subscription_invalid',
      'subscription_ended',
      'renewal_under_way',
      'checkout_unknown',
      ...providerErrors,
    ],
    handle: async ({ core, params, body }) => {
      const changed = await core.subscriptions.cancel(params.id, body)
      return { status: 200, body: subscriptionView(changed) }
    },
  }),
  route({
    name: 'pauseSubscription',
    method: 'POST',
    path: '/subscriptions/{id}/pause',
    summary: 'Pauses a subscription, with its period or now',
    params: ofSubscription,
    body: subscriptionBody('pause'),
    answers: { 200: subscriptionSchema },
    errors: [
      'subscription_not_found',
      'subscription_invalid',
      'subscription_ended',
      'renewal_under_way',
      ...providerErrors,
    ],
    handle: async ({ core, params, body }) => {
      const changed = await core.subscriptions.pause(params.id, body)
      return { status: 200, body: subscriptionView(changed) }
    },
  }),
  route({
    name: 'resumeSubscription',
    method: 'POST',
    path: '/subscriptions/{id}/resume',
    summary: 'Takes back a planned end or pause, or ends a pause',
    params: ofSubscription,
    body: noFields,
    answers: { 200: subscriptionSchema },
    errors: [
      'subscription_not_found',
      'subscription_ended',
      'renewal_under_way',
      'checkout_unknown',
      ...providerErrors,
    ],
    handle: async ({ core, params }) => {
      return { status: 200, body: subscriptionView(await core.subscriptions.resume(params.id)) }
    },
  }),
  route({
    name: 'changeSubscription',
    method: 'POST',
    path: '/subscriptions/{id}/change',
    summary: 'Changes what a subscription is from the next period on',
    params: ofSubscription,
    body: subscriptionBody('change'),
    answers: { 200: subscriptionSchema },
    errors: [
      'subscription_not_found',
      'subscription_invalid',
      'subscription_ended',
      'payment_method_unusable',
      'operation_unsupported',
    ],
    handle: async ({ core, params, body }) => {
      const changed = await core.subscriptions.change(params.id, body)
      return { status: 200, body: subscriptionView(changed) }
    },
  }),
  route({
    name: 'paySubscription',
    method: 'POST',
    path: '/subscriptions/{id}/pay',
    summary: 'Opens a checkout for what is owed',
    params: ofSubscription,
    body: subscriptionBody('pay'),
    answers: { 200: paymentSchema },
    errors: [
      'subscription_not_found',
      'subscription_invalid',
      'subscription_ended',
      'renewal_under_way',
      'return_url_not_allowed',
      'checkout_refused',
      'checkout_unknown',
      'gateway_not_configured',
      'operation_unsupported',
    ],
    handle: async ({ core, params, body }) => {
      return { status: 200, body: paymentView(await core.subscriptions.pay(params.id, body)) }
    },
  }),
  route({
    name: 'syncSubscription',
    method: 'POST',
    path: '/subscriptions/{id}/sync',
    summary: 'Asks the provider that manages a subscription how it stands',
    params: ofSubscription,
    body: noFields,
    answers: { 200: subscriptionSchema },
    errors: ['subscription_not_found', 'subscription_invalid', ...providerErrors],
    handle: async ({ core, params }) => {
      return { status: 200, body: subscriptionView(await core.subscriptions.sync(params.id)) }
    },
  }),
]
