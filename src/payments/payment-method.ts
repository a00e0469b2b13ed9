import * as field from '../kernel/noun.ts'
import {
  byChoice,
  byGateway,
  byId,
  byPayable,
  byText,
  orNull,
  type Values,
} from '../kernel/noun.ts'

export const paymentMethodStatuses = ['attached', 'detached'] as const

/** `detached` is final: a card that is saved again has another id. */
export type PaymentMethodStatus = (typeof paymentMethodStatuses)[number]

export const paymentMethodDetailFields = {
  /** `card`, `paypal`, `apple_pay`, and so on. */
  kind: field.text(),
  /** `visa`, `mastercard`, and so on. */
  brand: field.text(),
  lastFour: field.text(),
  /** 1 to 12. */
  expiryMonth: field.count(),
  /** Four digits. */
  expiryYear: field.count(),
}

/** What may be shown of a means of payment; what the provider does not state is left out. */
export interface PaymentMethodDetails extends Partial<Values<typeof paymentMethodDetailFields>> {}

export const paymentMethodFields = {
  id: field.id('card'),
  gateway: field.text({ of: 'gateway' }),
  merchantAccount: orNull(field.text()),
  live: orNull(field.flag()),
  status: field.choice(paymentMethodStatuses),
  /** The provider's id of it, or what represents its token. */
  providerReference: field.text(),
  /** The provider's id of the customer. */
  customerReference: orNull(field.text()),
  /**
   * The payment that it was saved with; its `payable` says whose it is. Null: it was saved with none
   * of ours, or its provider does not say it (Paddle).
   */
  paymentId: orNull(field.id('payment')),
  /** Its token is stored, encrypted. */
  hasToken: field.flag(),
  createdAt: field.time({ label: 'saved' }),
  updatedAt: field.time(),
}

/** A saved card or other means of payment; never its token. */
export interface PaymentMethod extends Values<typeof paymentMethodFields> {
  readonly details: PaymentMethodDetails
}

/**
 * What narrows a list of saved cards. `payable` and `customer` are those of the payment that a card
 * was saved with.
 */
export const paymentMethodFilters = {
  payable: byPayable('only those saved with a payment of this object, e.g. account:7'),
  customer: byText('only of this customer: the id or email of the customer of your payments', {
    placeholder: 'id',
    most: 255,
  }),
  /** The provider's id of the customer. */
  customerReference: byText(undefined, { most: 255 }),
  /** The payment that it was saved with. */
  paymentId: byId('payment', 'only those that were saved with this payment'),
  gateway: byGateway,
  status: byChoice(paymentMethodStatuses),
}

/** What people know a card by, such as `visa 4242`. */
export function cardName({ details, providerReference }: PaymentMethod): string {
  const { kind, brand = kind, lastFour } = details
  const known = [brand, lastFour].filter((part) => part !== undefined)
  return known.length === 0 ? providerReference : known.join(' ')
}
