import { QuittanceError } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import { detail } from '../detail.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { ChargeReply, ChargeRequest } from '../operations.ts'
import { accountFor, askOnce } from './api.ts'
import { statedBy } from './interpret.ts'
import { clientIpAddressOf, purchaseOf } from './purchase.ts'
import { reasonCodes, unusable } from './reason-code.ts'
import { authenticate } from './signature.ts'

const transactionType = 'CHARGE'

/**
 * CHARGE by token (the wiki's pages 852194 and 852175), sent once, without 3-D Secure. If the bank
 * requires 3-D Secure all the same, nothing is decided, and the payer has nowhere to pass it:
 * WayForPay lets the order expire.
 */
export async function chargeSavedCard(
  request: ChargeRequest,
  context: OperationContext,
): Promise<ChargeReply> {
  const { payment } = request
  accountFor(payment.merchantAccount, context)
  const purchase = purchaseOf(request, context.now)
  const fields = {
    ...purchase.fields,
    merchantTransactionType: 'SALE',
    merchantTransactionSecureType: 'NON3DS',
    recToken: tokenOf(request).reveal(),
    clientIpAddress: clientIpAddressOf(payment),
  }
  const reply = await askOnce({ ...purchase, transactionType, fields }, context)
  const found = authenticate(reply, context.credentials)
  if (!found.ok) throw unusable(transactionType, found.reason, reply)
  const { signed } = found
  const awaits3ds = signed.reasonCode === reasonCodes.awaiting3ds
  if (awaits3ds) {
    const { orderReference } = signed
    context.log.warn({ gateway: payment.gateway, orderReference }, 'saved card needs 3-D Secure')
  }
  const stated = statedBy({ signed, charge: { payment: { id: payment.id } } })
  if (stated !== 'money_returned') {
    return { outcomes: [stated], ...(awaits3ds && { needsPayer: true }) }
  }
  throw unusable(transactionType, detail(signed.transactionStatus))
}

function tokenOf({ token, method }: ChargeRequest): Secret {
  if (token !== null) return token
  throw new QuittanceError(
    'payment_invalid',
    `the token of saved card ${method.id} is not stored`,
    {
      fix: 'Set BILLING_ENCRYPTION_KEY, and have the card saved again.',
    },
  )
}
