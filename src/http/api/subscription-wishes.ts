import type { BillingCore } from '../../billing/types.ts'
import { paymentSchema, paymentView } from '../../wire/payment.ts'
import {
  subscriptionSchema,
  subscriptionView,
  type ListedSubscription,
} from '../../wire/subscription.ts'
import { noFields, subscriptionBody } from './bodies.ts'
import { idOf } from './params.ts'
import { providerErrors } from './refusals.ts'
import { route, type BodyForm, type Route } from './route.ts'

const ofSubscription = idOf('the subscription')

interface ChangeForm<Body> extends Pick<Route, 'name' | 'summary' | 'errors'> {
  readonly path: `/subscriptions/{id}/${string}`
  readonly body: BodyForm<Body>
  change(asked: BillingCore['subscriptions'], id: string, body: Body): Promise<ListedSubscription>
}

/** What changes a subscription, and answers how it is then. */
function changing<Body>({ change, ...form }: ChangeForm<Body>): Route {
  return route({
    ...form,
    method: 'POST',
    params: ofSubscription,
    answers: { 200: subscriptionSchema },
    handle: async ({ core, params, body }) => {
      const changed = await change(core.subscriptions, params.id, body)
      return { status: 200, body: subscriptionView(changed) }
    },
  })
}

/** What the management API can be asked of one subscription. */
export const subscriptionWishRoutes = [
  changing({
    name: 'cancelSubscription',
    path: '/subscriptions/{id}/cancel',
    summary: 'Ends a subscription, with its period or now',
    body: subscriptionBody('cancel'),
    errors: [
      'subscription_not_found',
      'subscription_invalid',
      'subscription_ended',
      'renewal_under_way',
      'checkout_unknown',
      ...providerErrors,
    ],
    change: (asked, id, body) => asked.cancel(id, body),
  }),
  changing({
    name: 'pauseSubscription',
    path: '/subscriptions/{id}/pause',
    summary: 'Pauses a subscription, with its period or now',
    body: subscriptionBody('pause'),
    errors: [
      'subscription_not_found',
      'subscription_invalid',
      'subscription_ended',
      'renewal_under_way',
      ...providerErrors,
    ],
    change: (asked, id, body) => asked.pause(id, body),
  }),
  changing({
    name: 'resumeSubscription',
    path: '/subscriptions/{id}/resume',
    summary: 'Takes back a planned end or pause, or ends a pause',
    body: noFields,
    errors: [
      'subscription_not_found',
      'subscription_ended',
      'renewal_under_way',
      'checkout_unknown',
      ...providerErrors,
    ],
    change: (asked, id) => asked.resume(id),
  }),
  changing({
    name: 'changeSubscription',
    path: '/subscriptions/{id}/change',
    summary: 'Changes what a subscription is from the next period on',
    body: subscriptionBody('change'),
    errors: [
      'subscription_not_found',
      'subscription_invalid',
      'subscription_ended',
      'payment_method_unusable',
      'operation_unsupported',
    ],
    change: (asked, id, body) => asked.change(id, body),
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
  changing({
    name: 'syncSubscription',
    path: '/subscriptions/{id}/sync',
    summary: 'Asks the provider that manages a subscription how it stands',
    body: noFields,
    errors: ['subscription_not_found', 'subscription_invalid', ...providerErrors],
    change: (asked, id) => asked.sync(id),
  }),
]
