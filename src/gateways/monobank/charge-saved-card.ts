import { QuittanceError } from '../../kernel/errors.ts'
import type { Payment } from '../../payments/payment.ts'
import { path as valueAt } from '../body/json.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { ChargeReply, ChargeRequest } from '../operations.ts'
import { invalidReply, monobankApi, urlIn, type MonobankApi } from './api.ts'
import { askInvoice, invoiceIn } from './find-invoice.ts'
import { interpretInvoice } from './interpret.ts'
import { orderOf } from './order.ts'
import type { Invoice } from './payload.ts'

const path = 'api/merchant/wallet/payment'

const initiationKinds = { customer: 'client', merchant: 'merchant' } as const

/** Charges a card by its token, once; the bank makes an invoice for it. */
export async function chargeSavedCard(
  request: ChargeRequest,
  context: OperationContext,
): Promise<ChargeReply> {
  const { payment, token, initiatedBy } = request
  if (token === null) throw withoutToken(request)
  const api = monobankApi(context)
  const reply = await api.post(path, {
    cardToken: token.reveal(),
    initiationKind: initiationKinds[initiatedBy],
    ...orderOf(request),
  })
  const invoice = invoiceIn(reply, { path, payment })
  // The reply names no payment: only what was charged can be compared.
  if (invoice.amount !== payment.amount || invoice.currency !== payment.currency) {
    throw invalidReply(path, 'with another amount')
  }
  const redirectUrl = urlIn(reply, 'tdsUrl')
  if (redirectUrl === undefined && (valueAt(reply, 'tdsUrl') ?? '') !== '') {
    throw invalidReply(path, 'with a tdsUrl that is none')
  }
  return {
    outcomes: interpretInvoice(await withReason(invoice, { api, payment }), {
      paymentId: payment.id,
    }),
    checkoutReference: invoice.id,
    ...(redirectUrl !== undefined && { redirectUrl }),
  }
}

/**
 * The reply to a charge is not documented to say by which code the card was declined; the status
 * of the invoice is. Without it, the card is declined all the same.
 */
async function withReason(
  invoice: Invoice,
  { api, payment }: { readonly api: MonobankApi; readonly payment: Payment },
): Promise<Invoice> {
  if (invoice.status !== 'failure' || invoice.body.has('errCode')) return invoice
  const stated = await askInvoice(api, invoice.id, payment).catch(() => undefined)
  return stated?.status === 'failure' ? stated : invoice
}

function withoutToken({ method }: ChargeRequest): QuittanceError {
  return new QuittanceError(
    'payment_method_unusable',
    `monobank charges a card by its token alone, and that of ${method.id} is not stored`,
    {
      fix: 'Set BILLING_ENCRYPTION_KEY, so that tokens are stored, and have the card saved again.',
    },
  )
}
