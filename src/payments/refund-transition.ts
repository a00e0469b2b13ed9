import type { Decision } from './transition.ts'
import type { PaymentStatus } from './payment.ts'

/** What a reported status does to a refund's row: unlike a charge, one that was paid may fail. */
export function decideRefund(from: PaymentStatus, to: PaymentStatus): Decision {
  if (from === to) return { kind: 'confirm' }
  if (from === 'pending') return { kind: 'move' }
  if (from === 'paid' && to === 'failed') return { kind: 'move' }
  // Late news changes nothing; but whether money went back after all, or did not, is for a person.
  const review = to === 'paid' || (from === 'paid' && to === 'canceled')
  return { kind: 'ignore', reason: 'already_settled', review }
}
