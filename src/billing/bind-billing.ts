import { createPayment } from '../checkout/create-payment.ts'
import { readPaymentInput, type PaymentInput } from '../checkout/payment-input.ts'
import { planCheckout } from '../checkout/plan-checkout.ts'
import type { Transaction } from '../database/connect.ts'
import { findPayment } from '../database/payments.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { withUuid } from '../kernel/uuid.ts'
import type { BoundBilling } from '../listeners/listener.ts'
import type { AfterCommit } from '../listeners/run-listeners.ts'
import type { MoneyContext } from '../money/context.ts'
import { listCharges } from '../money/refund-sums.ts'
import { requeueEarlyCalls } from '../money/requeue-early-calls.ts'
import { checked, paymentsQuery, readAccess, subscriptionsQuery } from './list-queries.ts'
import { givesAccess, pageOfSubscriptions } from './subscription-reads.ts'

/** The operations that a listener may use inside its transaction. */
export function bindBilling(
  { db }: Pick<Transaction, 'db'>,
  context: MoneyContext,
  afterCommit: AfterCommit,
): BoundBilling {
  const { gateways, newId } = context.processing
  return {
    payments: {
      create: async (wanted) => {
        const input = readPaymentInput(wanted)
        refuseGatewayCall(input, context)
        const creation = { ...context, gateways, token: newId() }
        const { payment } = await createPayment(db, creation, input)
        afterCommit(() => requeueEarlyCalls(payment, context))
        return payment
      },
      get: async (id) => withUuid(id, (known) => findPayment(db, known)),
      list: (query = {}) => listCharges(db, checked(paymentsQuery, query), gateways),
    },
    subscriptions: {
      access: async (payable, options = {}) =>
        givesAccess(db, readAccess(payable, options), context.processing),
      list: async (query = {}) =>
        pageOfSubscriptions(db, checked(subscriptionsQuery, query), context.processing),
    },
  }
}

/** A provider cannot be asked while a transaction is open, or before its payment is committed. */
function refuseGatewayCall(input: PaymentInput, { processing }: MoneyContext): void {
  const found = processing.gateways.find(input.gateway)
  const plan = found && planCheckout(found, input)
  if (plan !== 'api' && plan !== 'charge') return
  throw new QuittanceError(
    'gateway_call_in_transaction',
    `a listener's transaction cannot wait for ${input.gateway} to open a checkout`,
  )
}
