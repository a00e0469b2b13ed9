import type { Decision } from './transition.ts'
import type { PaymentStatus } from './payment.ts'

/** What a reported status does to a refund's row: unlike a charge, one that was paid may fail. */
export function decideRefund(from: PaymentStatus, to: PaymentStatus): Decision {
  if (from === to) return { kind: 'confirm' }
  if (from === 'pending') return { kind: 'move' }
  if (from === 'paid' && to === 'failed') return { kind: 'move' }
  // Late news changes nothing; but if money is reported as gone back after all, a person must look.
  return { kind: 'ignore', reason: 'already_settled', review: to === 'paid' }
}
