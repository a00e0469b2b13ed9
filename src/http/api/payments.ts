import { QuittanceError } from '../../kernel/errors.ts'
import { paymentFilters } from '../../payments/payment.ts'
import { listedPaymentSchema, listedPaymentView } from '../../wire/listed-payment.ts'
import { pageSchema, pageView } from '../../wire/page.ts'
import { paymentDetailsSchema, paymentDetailsView } from '../../wire/payment-details.ts'
import { paymentSchema, paymentView } from '../../wire/payment.ts'
import { pollSchema, pollView } from '../../wire/poll.ts'
import { noFields, paymentBody, refundBody } from './bodies.ts'
import { idOf } from './params.ts'
import { paymentsQuery } from './queries.ts'
import { listQueryOf } from './read-request.ts'
import { gatewayListErrors, providerErrors } from './refusals.ts'
import { route } from './route.ts'

const ofPayment = idOf('the payment')

/** `/payments` of the management API, refunds too. */
export const paymentRoutes = [
  route({
    name: 'createPayment',
    method: 'POST',
    path: '/payments',
    summary: 'Creates a payment and opens its checkout',
    description:
      'With an `id` of yours it may be repeated: the same content is the same payment. After ' +
      '`checkout_refused` and `checkout_unknown` the payment exists.',
    body: paymentBody,
    answers: { 201: paymentSchema },
    errors: [
      'payment_invalid',
      'return_url_not_allowed',
      'payment_exists',
      'gateway_unknown',
      'gateway_not_configured',
      'operation_unsupported',
      'payment_method_unusable',
      'checkout_refused',
      'checkout_unknown',
    ],
    handle: async ({ core, body }) => {
      return { status: 201, body: paymentView(await core.payments.create(body)) }
    },
  }),
  route({
    name: 'listPayments',
    method: 'GET',
    path: '/payments',
    summary: 'Lists payments, newest first',
    query: paymentsQuery,
    answers: { 200: pageSchema(listedPaymentSchema) },
    errors: gatewayListErrors,
    handle: async ({ core, query }) => {
      const page = await core.payments.list(listQueryOf(core, paymentFilters, query))
      return { status: 200, body: pageView(page, listedPaymentView) }
    },
  }),
  route({
    name: 'getPayment',
    method: 'GET',
    path: '/payments/{id}',
    summary: 'One payment with its whole history',
    params: ofPayment,
    answers: { 200: paymentDetailsSchema },
    errors: ['payment_not_found'],
    handle: async ({ core, params }) => {
      const payment = await core.payments.get(params.id)
      if (payment === undefined) {
        throw new QuittanceError('payment_not_found', 'there is no payment with this id')
      }
      return { status: 200, body: paymentDetailsView(payment) }
    },
  }),
  route({
    name: 'pollPayment',
    method: 'POST',
    path: '/payments/{id}/poll',
    summary: 'Asks the provider about a payment, and applies the answer',
    params: ofPayment,
    body: noFields,
    answers: { 200: pollSchema },
    errors: ['payment_not_found', ...providerErrors],
    handle: async ({ core, params }) => {
      return { status: 200, body: pollView(await core.payments.poll(params.id)) }
    },
  }),
  route({
    name: 'cancelPayment',
    method: 'POST',
    path: '/payments/{id}/cancel',
    summary: 'Closes the checkout of a pending payment, which is canceled then',
    params: ofPayment,
    body: noFields,
    answers: { 200: paymentSchema },
    errors: ['payment_not_found', 'payment_not_cancelable', ...providerErrors],
    handle: async ({ core, params }) => {
      return { status: 200, body: paymentView(await core.payments.cancel(params.id)) }
    },
  }),
  route({
    name: 'refundPayment',
    method: 'POST',
    path: '/payments/{id}/refunds',
    summary: 'Refunds a paid payment: an amount, or all that is left',
    description:
      'With an `id` of yours it may be repeated. After `refund_unknown` the refund exists, and ' +
      'the provider is asked what became of it: do not refund again.',
    params: ofPayment,
    body: refundBody,
    answers: { 201: paymentSchema },
    errors: [
      'payment_not_found',
      'payment_not_refundable',
      'refund_invalid',
      'refund_exists',
      'refund_too_large',
      'refund_under_way',
      'operation_unsupported',
      'gateway_not_configured',
      'refund_refused',
      'refund_unknown',
    ],
    handle: async ({ core, params, body }) => {
      return { status: 201, body: paymentView(await core.refunds.create(params.id, body)) }
    },
  }),
]
