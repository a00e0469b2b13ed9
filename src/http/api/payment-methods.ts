import { QuittanceError } from '../../kernel/errors.ts'
import { paymentMethodFilters } from '../../payments/payment-method.ts'
import { pageSchema, pageView } from '../../wire/page.ts'
import { paymentMethodSchema, paymentMethodView } from '../../wire/payment-method.ts'
import { noFields } from './bodies.ts'
import { idOf } from './params.ts'
import { paymentMethodsQuery } from './queries.ts'
import { listQueryOf } from './read-request.ts'
import { gatewayListErrors, providerErrors } from './refusals.ts'
import { route } from './route.ts'

const ofCard = idOf('the saved card')

/** `/payment-methods` of the management API. */
export const paymentMethodRoutes = [
  route({
    name: 'listPaymentMethods',
    method: 'GET',
    path: '/payment-methods',
    summary: 'Lists saved cards, removed ones too, newest first',
    query: paymentMethodsQuery,
    answers: { 200: pageSchema(paymentMethodSchema) },
    errors: gatewayListErrors,
    handle: async ({ core, query: asked }) => {
      const page = await core.paymentMethods.list(listQueryOf(core, paymentMethodFilters, asked))
      return { status: 200, body: pageView(page, paymentMethodView) }
    },
  }),
  route({
    name: 'getPaymentMethod',
    method: 'GET',
    path: '/payment-methods/{id}',
    summary: 'One saved card',
    params: ofCard,
    answers: { 200: paymentMethodSchema },
    errors: ['payment_method_not_found'],
    handle: async ({ core, params }) => {
      const method = await core.paymentMethods.get(params.id)
      if (method === undefined) {
        throw new QuittanceError('payment_method_not_found', 'there is no saved card with this id')
      }
      return { status: 200, body: paymentMethodView(method) }
    },
  }),
  route({
    name: 'removePaymentMethod',
    method: 'DELETE',
    path: '/payment-methods/{id}',
    summary: 'Removes a saved card, here and at the provider',
    description: 'To remove it again is safe.',
    params: ofCard,
    body: noFields,
    answers: { 200: paymentMethodSchema },
    errors: ['payment_method_not_found', ...providerErrors],
    handle: async ({ core, params }) => {
      return { status: 200, body: paymentMethodView(await core.paymentMethods.remove(params.id)) }
    },
  }),
]
