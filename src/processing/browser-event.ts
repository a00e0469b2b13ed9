import { findPayment } from '../database/payments.ts'
import type { EventType } from '../events/catalogue.ts'
import { browserDedupKey } from '../events/dedup-key.ts'
import type { Payment } from '../payments/payment.ts'
import { concludeReport } from './after-commit.ts'
import type { Processing } from './context.ts'
import { tellListeners } from '../listeners/tell-listeners.ts'

/** What a payer's browser did. Nothing of it is verified, and nothing of it changes a payment. */
export type BrowserEventType = Extract<EventType, 'CheckoutReturned' | 'PaymentLinkOpened'>

/**
 * Dispatches a browser's event, once per payment, however often the page is opened. A listener that
 * fails costs the event and nothing else: then it returns false, and a later visit may try again.
 */
export async function dispatchBrowserEvent(
  type: BrowserEventType,
  { id }: Payment,
  processing: Processing & { readonly queue: string },
): Promise<boolean> {
  const { database, log, newId, queue } = processing
  const dedupKey = browserDedupKey(type, id)
  const known = database.db.selectFrom('billing.events').select('id')
  if (await known.where('dedup_key', '=', dedupKey).executeTakeFirst()) return true
  const payment = await findPayment(database.db, id)
  if (payment === undefined) return true
  const claim = { eventId: newId(), dedupKey, type, subject: { payment } }
  try {
    const told = await database.transaction(async (transaction) => {
      const source = { cause: 'browser', callId: null, queue } as const
      const telling = { ...processing, onBegin: () => {} }
      const [result] = await tellListeners(transaction, [[{ claim, source }]], telling)
      return result
    })
    if (told === undefined) return true
    const applied = { kind: 'claim', type, payment, review: false, claim } as const
    concludeReport({ gateway: payment.gateway }, processing, { applied: [applied], told })
    if (told.kind === 'failed') log.warn({ err: told.error, payment: id }, `${type} was not told`)
    return told.kind === 'told'
  } catch (error) {
    log.warn({ err: error, payment: id }, `${type} was not told`)
    return false
  }
}
