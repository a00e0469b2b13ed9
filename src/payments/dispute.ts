import * as field from '../kernel/noun.ts'
import { orNull, type Values } from '../kernel/noun.ts'

export const disputeStatuses = ['open', 'won', 'lost'] as const

/** `won`: the merchant keeps the money. */
export type DisputeStatus = (typeof disputeStatuses)[number]

/** What JSON has of it, which has it within its payment. */
export const disputeFields = {
  id: field.id('dispute'),
  /** The provider's id of the dispute. */
  providerReference: field.text(),
  status: field.choice(disputeStatuses),
  /** Minor units; null if not stated. */
  amount: orNull(field.minorUnits()),
  currency: orNull(field.text()),
  createdAt: field.time(),
  updatedAt: field.time(),
}

/** A payer's bank takes a payment back: recorded beside the payment, which stays as it is. */
export interface Dispute extends Values<typeof disputeFields> {
  readonly paymentId: string
  readonly gateway: string
}
