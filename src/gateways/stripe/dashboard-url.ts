import type { Payment } from '../../payments/payment.ts'
import { isId } from './payload.ts'

/**
 * The page of its intent, or of the invoice of its period. In test mode it has another address; of a
 * connected account none that holds whoever looks.
 */
export function dashboardUrl({
  providerReference: id,
  live,
  merchantAccount,
}: Payment): string | undefined {
  if (live === null || merchantAccount !== null) return undefined
  // An id leaves nothing to escape.
  if (!isId(id, 'pi_', 'in_')) return undefined
  const page = id.startsWith('pi_') ? 'payments' : 'invoices'
  return `https://dashboard.stripe.com/${live ? '' : 'test/'}${page}/${id}`
}
