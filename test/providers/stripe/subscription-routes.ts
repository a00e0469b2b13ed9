import type { StandInReply } from '../../support/stand-in.ts'
import { fieldFaults, listReply, stripeError, type Rules, type StripeRequest } from './request.ts'
import type { Handler } from './route.ts'
import type { StripeState } from './state.ts'
import {
  invoiceIntentOf,
  invoiceOf,
  invoicePaymentOf,
  subscriptionOf,
  type Made,
  type Managed,
} from './subscription.ts'

const missing = (what: string) =>
  stripeError(404, { code: 'resource_missing', message: `No such ${what}` })
const body = (object: object): StandInReply => ({ body: object })
const denied = stripeError(403, { code: 'more_permissions_required' })

const managedOf = (state: StripeState, id: string): Managed | undefined =>
  state.lives.all.find((managed) => managed.id === id)

/** The invoice that fits, with its subscription. */
export function findMade(
  state: StripeState,
  fits: (made: Made) => boolean,
): readonly [Managed, Made] | undefined {
  for (const managed of state.lives.all) {
    const made = managed.invoices.find(fits)
    if (made !== undefined) return [managed, made]
  }
  return undefined
}

const readSubscription: Handler = (state, { query }, id) => ({
  asking: 'subscription',
  faults: fieldFaults(query, { 'expand[]?': /^schedule$/ }),
  refusal: denied,
  namesPayment: true,
  perform: () => {
    const managed = managedOf(state, id)
    return managed === undefined ? missing('subscription') : body(subscriptionOf(managed))
  },
})

/** A wish: made once under a key of its own, and of nothing that has ended. */
function wishing(
  rules: Rules,
  key: RegExp,
  wish: (state: StripeState, managed: Managed, request: StripeRequest) => string | undefined,
): Handler {
  return (state, request, id) => ({
    asking: 'wish',
    faults: [...fieldFaults(request.form, rules), ...keyFaults(request, key, id)],
    refusal: stripeError(400, { code: 'parameter_invalid' }),
    namesPayment: true,
    perform: () => {
      const managed = managedOf(state, id)
      if (managed === undefined) return missing('subscription')
      const message =
        managed.status === 'canceled'
          ? 'A canceled subscription can only update its cancellation_details and metadata.'
          : wish(state, managed, request)
      return message === undefined ? body(subscriptionOf(managed)) : stripeError(400, { message })
    },
  })
}

/** The subscription's id is in no key: the next wish of the kind would get the old answer. */
function keyFaults({ headers }: StripeRequest, key: RegExp, id: string): readonly string[] {
  const given = String(headers['idempotency-key'])
  const isOwn = key.test(given) && !given.includes(id)
  return isOwn ? [] : [`the idempotency key is ${given}`]
}

const updateRules: Rules = {
  'cancel_at_period_end?': /^(?:true|false)$/,
  'cancel_at?': /^$/,
}

const update = wishing(updateRules, /^(?:cancel|resume):./, (state, managed, { form }) => {
  const [atPeriodEnd] = form.get('cancel_at_period_end') ?? []
  if ((atPeriodEnd === undefined) === !form.has('cancel_at')) return 'One thing at a time.'
  state.lives.plan(managed, atPeriodEnd === 'true' ? managed.period.end : null)
  return undefined
})

const pauseRules: Rules = {
  type: /^subscription$/,
  'bill_for[unused_time_from][type]': /^none$/,
}

const pause = wishing(pauseRules, /^pause:./, (state, managed) => {
  if (managed.status !== 'active') return `This subscription is ${managed.status}.`
  state.lives.pause(managed, 'pause_requested')
  return undefined
})

const resumeRules: Rules = { payment_behavior: /^resume_on_payment_success$/ }

const resume = wishing(resumeRules, /^resume:./, (state, managed) => {
  if (managed.status !== 'paused') return 'Only paused subscriptions can be resumed.'
  state.lives.resume(managed)
  return undefined
})

const endAtOnce: Handler = (state, request, id) => ({
  asking: 'wish',
  faults: fieldFaults(request.form, {}),
  refusal: denied,
  namesPayment: true,
  perform: () => {
    const managed = managedOf(state, id)
    if (managed === undefined || managed.status === 'canceled') return missing('subscription')
    state.lives.end(managed)
    return body(subscriptionOf(managed))
  },
})

const listInvoices: Handler = (state, { query }) => ({
  asking: 'subscription',
  faults: fieldFaults(query, {
    subscription: /^sub_\w+$/,
    limit: /^(?:[1-9]\d?|100)$/,
    'starting_after?': /^in_\w+$/,
  }),
  refusal: denied,
  namesPayment: true,
  perform: () => {
    const managed = managedOf(state, query.get('subscription')?.[0] ?? '')
    if (managed === undefined) return missing('subscription')
    const listed = managed.invoices.map((made) => ({
      id: made.id,
      created: made.createdAt,
      body: invoiceOf(managed, made),
    }))
    return listReply(listed.toReversed(), query, state.mostPerPage)
  },
})

const readInvoice: Handler = (state, { query }, id) => ({
  asking: 'poll',
  faults: fieldFaults(query, {}),
  refusal: denied,
  namesPayment: true,
  perform: () => {
    const found = findMade(state, (made) => made.id === id)
    return found === undefined ? missing('invoice') : body(invoiceOf(...found))
  },
})

/** By the invoice, or by the intent that has paid it. */
const listInvoicePayments: Handler = (state, { query }) => ({
  asking: 'look_up',
  faults: fieldFaults(query, {
    'invoice?': /^in_\w+$/,
    'payment[type]?': /^payment_intent$/,
    'payment[payment_intent]?': /^pi_\w+$/,
    'status?': /^(?:paid|open|canceled)$/,
    'limit?': /^(?:[1-9]\d?|100)$/,
    'starting_after?': /^inpay_\w+$/,
  }),
  refusal: denied,
  namesPayment: true,
  perform: () => {
    const [invoice] = query.get('invoice') ?? []
    const [intent] = query.get('payment[payment_intent]') ?? []
    const [status] = query.get('status') ?? []
    // An invoice over nothing has no intent.
    const found = findMade(
      state,
      (made) => made.amount > 0n && (made.id === invoice || made.intentId === intent),
    )
    const payments = found === undefined ? [] : [invoicePaymentOf(found[1])]
    const listed = payments.filter(
      (payment) => status === undefined || ('status' in payment && payment.status === status),
    )
    const items = listed.map((payment) => ({ id: 'inpay_', created: 0, body: payment }))
    return listReply(items, query)
  },
})

/** The intent of an invoice, if it is one. */
export function invoiceIntent(state: StripeState, id: string): StandInReply | undefined {
  const found = findMade(state, (made) => made.intentId === id)
  return found && body(invoiceIntentOf(...found))
}

/** https://docs.stripe.com/api/subscriptions and https://docs.stripe.com/api/invoices */
export const subscriptionRoutes: readonly (readonly [
  method: string,
  path: RegExp,
  handler: Handler,
])[] = [
  ['GET', /^\/v1\/subscriptions\/(sub_\w+)$/, readSubscription],
  ['POST', /^\/v1\/subscriptions\/(sub_\w+)$/, update],
  ['DELETE', /^\/v1\/subscriptions\/(sub_\w+)$/, endAtOnce],
  ['POST', /^\/v1\/subscriptions\/(sub_\w+)\/pause$/, pause],
  ['POST', /^\/v1\/subscriptions\/(sub_\w+)\/resume$/, resume],
  ['GET', /^\/v1\/invoices$/, listInvoices],
  ['GET', /^\/v1\/invoices\/(in_\w+)$/, readInvoice],
  ['GET', /^\/v1\/invoice_payments$/, listInvoicePayments],
]
