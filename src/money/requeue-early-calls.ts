import { requeueCallsAwaiting } from '../outcomes/waiting-calls.ts'
import type { Payment } from '../payments/payment.ts'
import type { MoneyContext } from './context.ts'

/**
 * Requeues callbacks that came before the payment, or before the provider's id of it. `before`: how
 * it was known; nobody waits where its ids are the same. Best effort: the sweeper is the backstop.
 */
export async function requeueEarlyCalls(
  payment: Payment,
  { processing, connection }: Pick<MoneyContext, 'processing' | 'connection'>,
  before?: Payment,
): Promise<void> {
  const isKnown =
    before?.checkoutReference === payment.checkoutReference &&
    before.providerReference === payment.providerReference
  if (isKnown) return
  try {
    const calls = await requeueCallsAwaiting(processing.database.db, payment)
    if (calls.length > 0) await connection.announce()
  } catch (error) {
    processing.log.warn({ err: error }, 'could not look for early callbacks; the sweeper will')
  }
}
