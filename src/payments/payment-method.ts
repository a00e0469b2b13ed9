export const paymentMethodStatuses = ['attached', 'detached'] as const

/** `detached` is final: a card that is saved again has another id. */
export type PaymentMethodStatus = (typeof paymentMethodStatuses)[number]

/** What may be shown of a means of payment; what the provider does not state is left out. */
export interface PaymentMethodDetails {
  /** `card`, `paypal`, `apple_pay`, and so on. */
  readonly kind?: string
  /** `visa`, `mastercard`, and so on. */
  readonly brand?: string
  readonly lastFour?: string
  /** 1 to 12. */
  readonly expiryMonth?: number
  /** Four digits. */
  readonly expiryYear?: number
}

/** A saved card or other means of payment; never its token. */
export interface PaymentMethod {
  readonly id: string
  readonly gateway: string
  readonly merchantAccount: string | null
  readonly live: boolean | null
  readonly status: PaymentMethodStatus
  /** The provider's id of it, or what represents its token. */
  readonly providerReference: string
  /** The provider's id of the customer. */
  readonly customerReference: string | null
  /**
   * The payment that it was saved with; its `payable` says whose it is. Null: it was saved with none
   * of ours, or its provider does not say it (Paddle).
   */
  readonly paymentId: string | null
  readonly details: PaymentMethodDetails
  /** Its token is stored, encrypted. */
  readonly hasToken: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
}
