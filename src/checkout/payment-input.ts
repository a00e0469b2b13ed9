import { z } from 'zod'
import {
  currency,
  flag,
  jsonObject,
  minorUnits,
  must,
  oneOf,
  orNull,
  text,
  time,
  uuid,
  webUrl,
} from '../kernel/input-rules.ts'
import type { CurrencyCode } from '../kernel/currency-code.ts'
import { findLocale } from '../kernel/locale.ts'
import { readInput } from '../kernel/read-input.ts'

/** Who pays, as far as it is known; what a provider asks for is sent along. More fields are kept. */
export interface CustomerInput {
  /** Yours: payments are found by it, and saved cards of one id belong to one customer. */
  readonly id?: string | number | null | undefined
  readonly email?: string | null | undefined
  readonly phone?: string | null | undefined
  readonly name?: string | null | undefined
  readonly first_name?: string | null | undefined
  readonly last_name?: string | null | undefined
  /** Three letters of ISO 3166: `UKR`. */
  readonly country?: string | null | undefined
  /** The address of the payer's browser. */
  readonly ip?: string | null | undefined
  /** A language tag: `uk`, `en-GB`. */
  readonly locale?: string | null | undefined
  readonly [more: string]: unknown
}

/** What a caller gives to make a payment. Amounts are whole numbers of minor units. */
export interface CreatePaymentInput<Gateway extends string = string> {
  /** A UUID chosen by the caller: makes the call repeatable. */
  readonly id?: string | undefined
  readonly gateway: Gateway
  readonly amount: bigint | number
  readonly currency: CurrencyCode
  readonly payable: { readonly type: string; readonly id: string }
  readonly description?: string | undefined
  /** Where the payer can go on to afterwards; its origin must be allowed. */
  readonly returnUrl?: string | undefined
  /**
   * `email`, `ip` and the like, for providers that ask for them. `locale` (`uk`, `en-GB`) is the
   * language of our pages and, where the provider lets us choose it, of the checkout.
   */
  readonly customer?: CustomerInput | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly merchantAccount?: string | undefined
  readonly live?: boolean | undefined
  /**
   * Whether the provider is asked for a checkout. By default it is, if the gateway can do that. A
   * payment with a reference is the exception: it began elsewhere.
   */
  readonly checkout?: boolean | undefined
  /** The provider's ids of what began elsewhere. */
  readonly checkoutReference?: string | undefined
  readonly providerReference?: string | undefined
  /** When the checkout ends; in 24 hours by default. */
  readonly expiresAt?: Date | undefined
  /** Save the card, so that it can be charged again. */
  readonly saveCard?: boolean | undefined
  /** A saved card to charge at once, instead of a checkout. */
  readonly paymentMethodId?: string | undefined
  /** Who charges the saved card: `customer` (the default) is there to confirm it. */
  readonly initiatedBy?: 'customer' | 'merchant' | undefined
}

const customer = jsonObject.refine(
  ({ locale }) => locale === undefined || locale === null || findLocale(locale) !== undefined,
  { ...must('must be a language tag such as uk or en-GB'), path: ['locale'] },
)

/**
 * The one rule for the library, the API and the command: they only spell the names differently.
 * Texts are short enough for a PostgreSQL index to hold them together. What decides about money is
 * never null: JSON turns an invalid amount or time into null.
 */
export const paymentRules = {
  id: uuid.optional(),
  gateway: text(64),
  amount: minorUnits(0n),
  currency,
  payable: z.strictObject({ type: text(255), id: text(255) }, must('must be {type, id}')),
  description: orNull(text(1000)),
  returnUrl: orNull(webUrl(2000)),
  customer: orNull(customer),
  metadata: orNull(jsonObject),
  merchantAccount: orNull(text(255)),
  live: flag.optional(),
  checkout: flag.optional(),
  checkoutReference: text(500).optional(),
  providerReference: text(500).optional(),
  expiresAt: time.optional(),
  saveCard: flag.optional(),
  paymentMethodId: uuid.optional(),
  initiatedBy: oneOf(['customer', 'merchant']).optional(),
} satisfies Record<keyof CreatePaymentInput, z.ZodType>

const schema = z.strictObject(paymentRules)

/** The input, checked: nulls are left out, amounts are bigints. */
export type PaymentInput = z.output<typeof schema>

/** Error: `payment_invalid`, naming the field. */
export function readPaymentInput(input: unknown): PaymentInput {
  return readInput(schema, input, 'payment_invalid')
}
