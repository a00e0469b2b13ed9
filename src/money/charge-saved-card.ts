import { findPaymentMethod } from '../database/payment-methods.ts'
import { findPayment } from '../database/payments.ts'
import type { ChargeReply } from '../gateways/operations.ts'
import { requireOperation } from '../gateways/require.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { applyReport } from '../processing/apply-report.ts'
import { checkoutRequest } from '../checkout/checkout-request.ts'
import { recordFailure, takeAnswer } from './open-checkout.ts'
import { askProvider, gatewayOf } from './ask-provider.ts'
import type { MoneyContext } from './context.ts'
import { tokenOf } from './saved-card-token.ts'

/**
 * Charges the saved card of a payment whose row is committed as `unknown`: one request, whatever
 * happens to it. A declined card fails the payment. Errors: `checkout_refused`, and
 * `checkout_unknown`, after which a poll finds out what happened.
 */
export async function chargeSavedCard(
  payment: Payment,
  initiatedBy: 'customer' | 'merchant',
  context: MoneyContext,
): Promise<Payment> {
  let reply: ChargeReply
  try {
    reply = await request(payment, initiatedBy, context)
  } catch (error) {
    throw await recordFailure(payment, context, error)
  }
  const { redirectUrl, outcomes, ...references } = reply
  const answer = { ...references, ...(redirectUrl !== undefined && { url: redirectUrl }) }
  const bound = await takeAnswer(payment, answer, context)
  await applyReport(
    { gateway: bound.gateway, outcomes, cause: 'poll', queue: context.queue },
    context.processing,
  )
  return (await findPayment(context.processing.database.db, payment.id)) ?? bound
}

async function request(
  payment: Payment,
  initiatedBy: 'customer' | 'merchant',
  context: MoneyContext,
): Promise<ChargeReply> {
  const found = gatewayOf(payment, context)
  const charge = requireOperation(found, 'chargeSavedCard')
  const { db } = context.processing.database
  const id = payment.paymentMethodId
  const method = id === null ? undefined : await findPaymentMethod(db, id)
  if (method?.status !== 'attached') {
    throw new QuittanceError('payment_method_unusable', 'the saved card has been removed')
  }
  const token = await tokenOf(method, context)
  if (token === null && found.gateway.secretFields.length > 0) {
    const text = `the token of saved card ${method.id} cannot be read: its encryption key is gone`
    throw new QuittanceError('payment_method_unusable', text)
  }
  const asked = { ...checkoutRequest(payment, context.addresses), method, token, initiatedBy }
  return askProvider(found, context, (operation) => charge(asked, operation))
}
