import type { OperationContext } from '../interpret-context.ts'
import type { PollRequest } from '../operations.ts'
import { accountFor, askWithAnySecret } from './api.ts'
import { orderReferenceOf } from './order-reference.ts'
import { reasonCodeOf, reasonCodes, unusable } from './reason-code.ts'

const remove = 'REMOVE_INVOICE'

/** Orders that can no longer be paid, or never could. */
const notOpen: ReadonlySet<string | undefined> = new Set([
  reasonCodes.illegalOrderState,
  reasonCodes.orderNotFound,
])

/** REMOVE_INVOICE (the wiki's page 1737356), which removes only unpaid invoices. */
export async function closeCheckout(
  { payment }: PollRequest,
  context: OperationContext,
): Promise<'closed' | 'not_open'> {
  accountFor(payment.merchantAccount, context)
  const orderReference = orderReferenceOf(payment)
  const request = {
    transactionType: remove,
    orderReference,
    fields: {},
    signedTexts: [orderReference],
  }
  const reply = await askWithAnySecret(request, context)
  const code = reasonCodeOf(reply)
  if (code === reasonCodes.ok) return 'closed'
  if (notOpen.has(code)) return 'not_open'
  throw unusable(remove, 'not_removed', reply)
}
