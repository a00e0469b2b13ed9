import { z } from 'zod'
import { QuittanceError } from '../kernel/errors.ts'

/** What a caller gives to make a payment. Amounts are whole numbers of minor units. */
export interface CreatePaymentInput {
  /** A UUID of the caller's: makes the call repeatable. */
  readonly id?: string | undefined
  readonly gateway: string
  readonly amount: bigint | number
  readonly currency: string
  readonly payable: { readonly type: string; readonly id: string }
  readonly description?: string | undefined
  /** Where the payer can go on to afterwards; its origin must be an allowed one. */
  readonly returnUrl?: string | undefined
  /** `email`, `ip` and the like are handed to providers that ask for them. */
  readonly customer?: Readonly<Record<string, unknown>> | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly merchantAccount?: string | undefined
  readonly live?: boolean | undefined
  /**
   * Whether the provider is asked for a checkout. By default it is, wherever the gateway can, but
   * not for a payment that comes with a reference: that one began elsewhere.
   */
  readonly checkout?: boolean | undefined
  /** The provider's ids of what began elsewhere. */
  readonly checkoutReference?: string | undefined
  readonly providerReference?: string | undefined
  /** When the checkout ends; in 24 hours by default. */
  readonly expiresAt?: Date | undefined
  /** The card is to be saved, so that it can be charged again. */
  readonly saveCard?: boolean | undefined
  /** A saved card to be charged at once, instead of a checkout. */
  readonly paymentMethodId?: string | undefined
  /** Who charges the saved card: `customer` (the default) is there to confirm it. */
  readonly initiatedBy?: 'customer' | 'merchant' | undefined
}

/** No control characters: these texts are shown, logged and sent to providers. */
const text = (limit: number) =>
  z
    .string()
    .min(1)
    .max(limit)
    // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'must not contain control characters')

const jsonObject = z
  .record(z.string(), z.unknown())
  .nullable()
  .refine(isJson, 'must hold what JSON can hold')

function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return true
  } catch {
    return false
  }
}

const details = z.object({
  payable: z.object({ type: text(200), id: text(200) }),
  description: text(1000).nullable(),
  returnUrl: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .nullable(),
  merchantAccount: text(200).nullable(),
  checkoutReference: text(500).nullable(),
  providerReference: text(500).nullable(),
  live: z.boolean().nullable(),
  customer: jsonObject,
  metadata: jsonObject,
  saveCard: z.boolean(),
  expiresAt: z.date().nullable(),
  paymentMethodId: z.uuid().nullable(),
})

/** The checked values. Error: `payment_invalid`, naming the field. */
export function checkDetails(values: z.input<typeof details>): z.output<typeof details> {
  const checked = details.safeParse(values)
  if (checked.success) return checked.data
  const issue = checked.error.issues[0]
  throw new QuittanceError(
    'payment_invalid',
    `${issue?.path.join('.') ?? 'payment'}: ${issue?.message ?? 'not allowed'}`,
  )
}
