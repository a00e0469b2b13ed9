import { isQuittanceError } from '../../kernel/errors.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { PollRequest } from '../operations.ts'
import { monobankApi } from './api.ts'
import { askInvoice } from './find-invoice.ts'

const path = 'api/merchant/invoice/remove'

/**
 * Removes an unpaid invoice. The bank refuses if it is paid, over, or just being paid, and does not
 * say which: in the last case its refusal stands. If the request to make the invoice was not
 * answered, its page was never shown.
 */
export async function closeInvoice(
  { payment }: PollRequest,
  context: OperationContext,
): Promise<'closed' | 'not_open'> {
  const api = monobankApi(context)
  const invoiceId = payment.checkoutReference
  if (invoiceId === null) return 'not_open'
  try {
    await api.post(path, { invoiceId })
    return 'closed'
  } catch (error) {
    if (!isQuittanceError(error) || error.code !== 'provider_refused') throw error
    const invoice = await askInvoice(api, invoiceId, payment)
    if (invoice === undefined || ended.has(invoice.status)) return 'not_open'
    throw error
  }
}

const ended: ReadonlySet<string> = new Set(['success', 'reversed', 'expired'])
