import { days, minutes, seconds } from '../../kernel/duration.ts'
import { isJsonObject } from '../body/json.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { CheckoutRequest, OpenedCheckout } from '../operations.ts'
import { invalidReply, monobankApi, urlIn } from './api.ts'
import { orderOf, walletIdOf } from './order.ts'
import { invoiceIdOf } from './payload.ts'

const path = 'api/merchant/invoice/create'

/** Makes an invoice, whose page takes the payer's money. */
export async function openInvoice(
  request: CheckoutRequest,
  context: OperationContext,
): Promise<OpenedCheckout> {
  const { payment, saveCard } = request
  const validity = validityOf(request, context)
  const reply = await monobankApi(context).post(path, {
    ...orderOf(request),
    validity,
    paymentType: 'debit',
    ...(saveCard && { saveCardData: { saveCard: true, walletId: walletIdOf(payment) } }),
  })
  const checkoutReference = isJsonObject(reply) ? invoiceIdOf(reply) : undefined
  const url = urlIn(reply, 'pageUrl')
  if (checkoutReference === undefined) throw invalidReply(path, 'without an invoiceId')
  if (url === undefined) throw invalidReply(path, 'without the URL of a page')
  return { url, checkoutReference, expiresAt: new Date(context.now.getTime() + seconds(validity)) }
}

/** No payer can pay in less time. */
const shortest = minutes(1)
/** The bank's limit for the page of a subscription; for invoices it states none. */
const longest = days(30)

/** In whole seconds. */
function validityOf({ expiresAt }: CheckoutRequest, { now }: OperationContext): number {
  const lifetime = expiresAt.getTime() - now.getTime()
  return Math.floor(Math.min(Math.max(lifetime, shortest), longest) / seconds(1))
}
