import { paymentStatuses, type Payment } from './payment.ts'
import type { TakenBack } from './taken-back.ts'

export const standingStates = [
  ...paymentStatuses,
  'partly_refunded',
  'refunded',
  'disputed',
] as const
/** A status, or what became of a payment that is `paid`. */
export type StandingState = (typeof standingStates)[number]

/** How a payment stands, for people: after a refund or a dispute its `status` stays `paid`. */
export interface PaymentStanding {
  readonly state: StandingState
  /** What was refunded, in minor units. */
  readonly refunded: bigint
}

/** A dispute is said first: while it is open, somebody must act. */
export function standingOf(
  { type, status, amount }: Pick<Payment, 'type' | 'status' | 'amount'>,
  { refunded, isDisputed }: TakenBack,
): PaymentStanding {
  if (type !== 'charge' || status !== 'paid') return { state: status, refunded }
  if (isDisputed) return { state: 'disputed', refunded }
  if (refunded === 0n) return { state: status, refunded }
  return { state: refunded < amount ? 'partly_refunded' : 'refunded', refunded }
}

/** In words: `partly refunded`. */
export function standingText({ state }: PaymentStanding): string {
  return state.replace('_', ' ')
}
