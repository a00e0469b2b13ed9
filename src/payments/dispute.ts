export const disputeStatuses = ['open', 'won', 'lost'] as const

/** `won`: the merchant keeps the money. */
export type DisputeStatus = (typeof disputeStatuses)[number]

/** A payer's bank takes a payment back: recorded beside the payment, which stays as it is. */
export interface Dispute {
  readonly id: string
  readonly paymentId: string
  readonly gateway: string
  /** The provider's id of the dispute. */
  readonly providerReference: string
  readonly status: DisputeStatus
  /** Minor units; null if not stated. */
  readonly amount: bigint | null
  readonly currency: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}
