import { findPayment } from '../database/payments.ts'
import { dedupKey, type TypesFiredBy } from '../events/catalogue.ts'
import type { Payment } from '../payments/payment.ts'
import { dispatchAlone, lostByListener } from '../listeners/dispatch-events.ts'
import { afterReport } from './after-commit.ts'
import type { ProcessingContext } from './context.ts'

/** What a payer's browser did. Nothing of it is verified, and nothing of it changes a payment. */
export type BrowserEventType = TypesFiredBy<'a browser'>

/**
 * Dispatches a browser's event once per payment, however often the page is opened. If a listener
 * fails, only the event is lost: the result is false, and a later visit may try again.
 */
export async function dispatchBrowserEvent(
  type: BrowserEventType,
  { id }: Payment,
  context: ProcessingContext & { readonly queue: string },
): Promise<boolean> {
  const { database, log, newId, queue } = context
  const key = dedupKey(type, { payment: id })
  const known = database.db.selectFrom('billing.events').select('id')
  if (await known.where('dedup_key', '=', key).executeTakeFirst()) return true
  const payment = await findPayment(database.db, id)
  if (payment === undefined) return true
  const claim = { eventId: newId(), dedupKey: key, type, subject: { payment } }
  const source = { cause: 'browser', callId: null, queue } as const
  try {
    const dispatched = await database.transaction((transaction) =>
      dispatchAlone(transaction, { source, claims: [claim] }, context),
    )
    if (dispatched.kind === 'failed') throw dispatched.error
    const applied = { kind: 'claim', type, payment, review: false, claim } as const
    afterReport({ gateway: payment.gateway, cause: 'browser' }, context, {
      applied: [applied],
      dispatched,
    })
    return true
  } catch (error) {
    const lost = lostByListener(error)
    log.warn({ err: lost?.error ?? error, payment: id }, `${type} was not dispatched`)
    return false
  }
}
