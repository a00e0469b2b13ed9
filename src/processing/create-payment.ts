import { z } from 'zod'
import { findPayment, insertPayment } from '../database/payments.ts'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Registry } from '../gateways/registry.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { isUuid, type NewId } from '../kernel/ids.ts'
import { money } from '../kernel/money.ts'
import type { Payment } from '../payments/payment.ts'

/** What a caller gives to make a payment. Amounts are whole numbers of minor units. */
export interface CreatePaymentInput {
  /** A UUID of the caller's: makes the call repeatable. */
  readonly id?: string | undefined
  readonly gateway: string
  readonly amount: bigint | number
  readonly currency: string
  readonly payable: { readonly type: string; readonly id: string }
  readonly description?: string | undefined
  readonly returnUrl?: string | undefined
  readonly customer?: Readonly<Record<string, unknown>> | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly merchantAccount?: string | undefined
  readonly live?: boolean | undefined
  readonly checkoutReference?: string | undefined
  readonly providerReference?: string | undefined
  readonly expiresAt?: Date | undefined
}

export interface PaymentCreation {
  readonly gateways: Registry
  readonly newId: NewId
  /** Where a gateway of ours has its own page for a payment. */
  checkoutUrl(gateway: string, paymentId: string): string | null
}

/** No control characters: these texts are shown, logged and sent to providers. */
const text = (limit: number) =>
  z
    .string()
    .min(1)
    .max(limit)
    // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'must not contain control characters')

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
  customer: z.record(z.string(), z.unknown()).nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
})

/**
 * Writes a pending payment. With an id of the caller's the same content gives the same payment
 * again; other content is an error (`payment_exists`). Other errors: `payment_invalid`,
 * `gateway_unknown`.
 */
export async function createPayment(
  db: Kysely<Tables>,
  creation: PaymentCreation,
  input: CreatePaymentInput,
): Promise<Payment> {
  const draft = readInput(creation, input)
  const created = await insertPayment(db, draft).catch(explainConflict)
  if (created !== undefined) return created
  const existing = await findPayment(db, draft.id)
  if (existing !== undefined && sameContent(existing, draft)) return existing
  throw new QuittanceError(
    'payment_exists',
    `payment ${draft.id} exists already with other content`,
  )
}

type Draft = Omit<Payment, 'createdAt' | 'updatedAt'>

function readInput(creation: PaymentCreation, input: CreatePaymentInput): Draft {
  const found = creation.gateways.find(input.gateway)
  if (found === undefined) {
    throw new QuittanceError(
      'gateway_unknown',
      `gateway ${JSON.stringify(input.gateway)} is not registered`,
    )
  }
  const id = input.id ?? creation.newId()
  if (!isUuid(id)) {
    throw new QuittanceError('payment_invalid', 'id must be a UUID in lower case, with dashes')
  }
  const { name } = found.gateway
  const account = found.gateway.account(found.credentials)
  return {
    id,
    type: 'charge',
    parentId: null,
    gateway: name,
    status: 'pending',
    ...money(input.amount, input.currency),
    ...checkDetails({
      payable: input.payable,
      description: input.description ?? null,
      returnUrl: input.returnUrl ?? null,
      merchantAccount: input.merchantAccount ?? account.merchantAccount,
      checkoutReference: input.checkoutReference ?? null,
      providerReference: input.providerReference ?? null,
      live: input.live ?? account.live,
      customer: input.customer ?? null,
      metadata: input.metadata ?? null,
    }),
    checkoutUrl: creation.checkoutUrl(name, id),
    expiresAt: input.expiresAt ?? null,
  }
}

function checkDetails(values: z.input<typeof details>): z.output<typeof details> {
  const checked = details.safeParse(values)
  if (checked.success) return checked.data
  const issue = checked.error.issues[0]
  throw new QuittanceError(
    'payment_invalid',
    `${issue?.path.join('.') ?? 'payment'}: ${issue?.message ?? 'not allowed'}`,
  )
}

function sameContent(payment: Payment, draft: Draft): boolean {
  return contentOf(payment) === contentOf(draft)
}

/** What the caller chose; what came to it later (status, the provider's ids) does not count. */
function contentOf(payment: Draft): string {
  const { gateway, currency, payable, description, returnUrl, customer, metadata } = payment
  const amount = payment.amount.toString()
  return JSON.stringify([
    gateway,
    amount,
    currency,
    payable.type,
    payable.id,
    description,
    returnUrl,
    customer,
    metadata,
    payment.merchantAccount,
    payment.live,
    payment.expiresAt?.toISOString(),
  ])
}

function explainConflict(error: unknown): never {
  const constraint = error instanceof Error && 'constraint' in error ? String(error.constraint) : ''
  if (constraint.startsWith('payments_') && constraint.endsWith('_reference')) {
    throw new QuittanceError(
      'payment_invalid',
      'checkout_reference or provider_reference belongs to another payment already',
      { cause: error },
    )
  }
  throw error
}
