import { QuittanceError } from '../../kernel/errors.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { ChargeReply, ChargeRequest } from '../operations.ts'
import { invalidReply, openApi } from './api.ts'
import { orderParameters } from './checkout.ts'
import { interpretOrder } from './interpret.ts'
import { readOrderIn } from './read-order.ts'
import { signedReply } from './reply.ts'

/**
 * Makes an order and pays it with a card's token: the reply is the order as in a callback. There is
 * no 3-D Secure here, whoever initiates the charge. https://docs.fondy.eu/en/docs/page/10
 */
export async function chargeSavedCard(
  request: ChargeRequest,
  context: OperationContext,
): Promise<ChargeReply> {
  const { payment, token } = request
  if (token === null) {
    throw new QuittanceError(
      'gateway_not_configured',
      'hutko charges a saved card by its token, and that of this card is not stored',
      { fix: 'Set BILLING_ENCRYPTION_KEY before cards are saved.' },
    )
  }
  const reply = await openApi(payment, context).send('recurring', {
    ...orderParameters(request),
    rectoken: token.reveal(),
  })
  const read = readOrderIn(signedReply(reply, payment, context.credentials))
  if (!read.ok) throw invalidReply(reply.call, 'an order that cannot be read')
  return { outcomes: interpretOrder(read.order) }
}
