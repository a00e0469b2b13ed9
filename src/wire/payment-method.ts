import { fieldsOf, inWords, viewOf, type JsonValues, type Noun } from '../kernel/noun.ts'
import {
  cardName,
  paymentMethodDetailFields,
  paymentMethodFields,
  paymentMethodFilters,
  type PaymentMethod,
} from '../payments/payment-method.ts'
import { schemaOf } from './noun.ts'

const fields = { ...paymentMethodFields, ...fieldsOf('details', paymentMethodDetailFields) }

/** A saved card; never its token. */
export const paymentMethodSchema = schemaOf(fields)
export const paymentMethodView: (method: PaymentMethod) => JsonValues<typeof fields> =
  viewOf(fields)

export const paymentMethodNoun: Noun<PaymentMethod> = {
  plural: 'saved cards',
  facts: { ...fields, card: inWords<PaymentMethod>(cardName) },
  filters: paymentMethodFilters,
  columns: ['id', 'status', 'card', 'createdAt', 'gateway'],
  view: paymentMethodView,
}
