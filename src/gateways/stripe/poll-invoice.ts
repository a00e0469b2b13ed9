import { ignored, type Outcome } from '../../payments/outcome.ts'
import { numberTextOf, type JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { Standing } from '../operations.ts'
import type { LookUps, StripeApi } from './api.ts'
import { shownField } from './fields.ts'
import { invoiceFailed, invoicePaid, payingIntents } from './read-invoice.ts'
import { isId, type Snapshot } from './payload.ts'
import type { Polled } from './polled.ts'

/** An invoice of a subscription, by which the payment is known. */
export async function pollInvoice(
  snapshot: Snapshot,
  { invoice, api }: { readonly invoice: JsonObject; readonly api: StripeApi },
  lookUps: LookUps,
): Promise<Polled> {
  const id = invoice.get('id')
  const isPaid = invoice.get('status') === 'paid'
  return {
    outcomes: await invoiceNow(snapshot, invoice, lookUps),
    standing: standings.get(invoice.get('status')) ?? 'unclear',
    intents: isPaid && isId(id, 'in_') ? await payingIntents(id, api) : undefined,
    checkout: {},
  }
}

/**
 * Stripe retries an open invoice automatically, and its payer can pay it. The payer can also pay
 * one that the merchant has given up. https://docs.stripe.com/invoicing/overview#invoice-statuses
 */
const standings: ReadonlyMap<unknown, Standing> = new Map<unknown, Standing>([
  ['draft', 'open'],
  ['open', 'open'],
  ['uncollectible', 'open'],
  ['paid', 'paid'],
  ['void', 'unpaid'],
])

/** As the last event about its state said. */
export async function invoiceNow(
  snapshot: Snapshot,
  invoice: JsonObject,
  lookUps: LookUps,
): Promise<readonly Outcome[]> {
  const status = invoice.get('status')
  if (status === 'paid') return [invoicePaid(snapshot)]
  const tries = Number(numberTextOf(invoice.get('attempt_count')) ?? 0)
  if (status === 'open' && tries > 0) return invoiceFailed(snapshot, lookUps)
  return [ignored('no_outcome', detail(`invoice ${shownField(invoice, 'status')}`))]
}
