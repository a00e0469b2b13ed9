import type { Kysely } from 'kysely'
import { listDeferredEvents } from '../database/deferred-events.ts'
import { listActivity } from '../database/payment-activity.ts'
import { listDisputes } from '../database/disputes.ts'
import { reviewsOf } from '../database/list-reviews.ts'
import { listEvents } from '../database/events.ts'
import { readStandings } from '../database/refunds.ts'
import { savedWith } from '../database/payment-methods.ts'
import { findPayment, listRefunds, listTransitions, readStatuses } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import type { CheckoutForm } from '../gateways/operations.ts'
import type { Registry } from '../gateways/registry.ts'
import { readUuid, withUuid } from '../kernel/uuid.ts'
import { findPeriod } from '../database/subscription-periods.ts'
import { cancelPayment } from '../money/cancel-payment.ts'
import { pollPayment } from '../money/poll-payment.ts'
import { listCharges, refundSums } from '../money/refund-sums.ts'
import { startPayment } from '../money/start-payment.ts'
import type { Payment } from '../payments/payment.ts'
import { dispatchBrowserEvent } from '../processing/browser-event.ts'
import { refuseInsideListener } from '../listeners/listener-scope.ts'
import { readPaymentInput } from '../checkout/payment-input.ts'
import { checkoutRequest } from '../checkout/checkout-request.ts'
import { entitled, handle } from './handles.ts'
import { paymentDetailsView, type PaymentDetails } from '../wire/payment-details.ts'
import { withJson } from '../kernel/with-json.ts'
import { checked, paymentsQuery } from './list-queries.ts'
import { addressesOf } from './money-context.ts'
import type { Runtime } from './runtime.ts'
import type { BillingCore } from './types.ts'

/** `billing.payments` */
export function paymentOperations(runtime: Runtime): BillingCore['payments'] {
  const { gateways } = runtime.settings
  return {
    create: async (input) => {
      refuseInsideListener('billing.payments.create')
      const read = readPaymentInput(input)
      // The result of charging a saved card is applied at once.
      const isCharge = read.paymentMethodId !== undefined
      return startPayment(read, await (isCharge ? runtime.entitledContext() : runtime.context()))
    },
    get: async (id) => {
      const db = await handle(runtime, 'billing.payments.get')
      const payment = await withUuid(id, (known) => findPayment(db, known))
      return payment && withHistory(db, payment, gateways)
    },
    find: async (id) => {
      const db = await handle(runtime, 'billing.payments.find')
      return withUuid(id, (known) => findPayment(db, known))
    },
    list: async (query = {}) => {
      const db = await handle(runtime, 'billing.payments.list')
      return listCharges(db, checked(paymentsQuery, query), gateways)
    },
    statuses: async (ids) =>
      readStatuses(
        await handle(runtime, 'billing.payments.statuses'),
        ids.flatMap((id) => readUuid(id) ?? []),
      ),
    standings: async (ids) =>
      readStandings(
        await handle(runtime, 'billing.payments.standings'),
        ids.flatMap((id) => readUuid(id) ?? []),
      ),
    poll: async (id) => pollPayment(id, await entitled(runtime, 'billing.payments.poll')),
    cancel: async (id) => cancelPayment(id, await entitled(runtime, 'billing.payments.cancel')),
    checkoutForm: (payment) => checkoutForm(runtime, payment),
    allowsReturn: runtime.settings.isAllowedReturn,
    signal: async (type, payment) => {
      refuseInsideListener('billing.payments.signal')
      const { processing, queue } = await runtime.registeredContext()
      return dispatchBrowserEvent(type, payment, { ...processing, queue })
    },
  }
}

function checkoutForm({ settings }: Runtime, payment: Payment): CheckoutForm | undefined {
  const found = settings.gateways.find(payment.gateway)
  if (found?.gateway.checkout?.kind !== 'form' || payment.checkout !== 'open') return undefined
  const request = checkoutRequest(payment, addressesOf(settings))
  return found.gateway.checkout.form(request, found.credentials)
}

async function withHistory(
  db: Kysely<Tables>,
  payment: Payment,
  gateways: Registry,
): Promise<PaymentDetails> {
  const { id, periodId } = payment
  const [sumsOf, events, period, history] = await Promise.all([
    refundSums(db, [payment], gateways),
    listEvents(db, { paymentId: id, limit: 100 }),
    periodId === null ? undefined : findPeriod(db, periodId),
    historyOf(db, id),
  ])
  const details = {
    ...payment,
    ...sumsOf(payment),
    ...history,
    period: period ?? null,
    events: events.data.toReversed(),
  }
  return withJson(details, paymentDetailsView) satisfies PaymentDetails
}

async function historyOf(db: Kysely<Tables>, id: string) {
  const [transitions, deferredEvents, refunds, disputes, paymentMethods, reviews, activity] =
    await Promise.all([
      listTransitions(db, id),
      listDeferredEvents(db, id),
      listRefunds(db, id),
      listDisputes(db, id),
      savedWith(db, id),
      reviewsOf(db, id),
      listActivity(db, id),
    ])
  return { transitions, deferredEvents, refunds, disputes, paymentMethods, reviews, activity }
}
