import { sampleAdjustment } from '../../../src/gateways/paddle/samples/adjustment.ts'
import { sampleId } from '../../../src/gateways/paddle/samples/event.ts'
import { sampleTransaction } from '../../../src/gateways/paddle/samples/transaction.ts'

/** A length of time in Paddle's words. */
export interface Cycle {
  readonly interval: 'day' | 'week' | 'month' | 'year'
  readonly frequency: number
}

/** A time, in Paddle's words. */
export interface Span {
  readonly starts_at: string
  readonly ends_at: string
}

/** A transaction as a stand-in of Paddle's API has it. */
export interface HeldTransaction {
  readonly id: string
  readonly paymentId: string
  /** What it comes to. */
  readonly amount: bigint
  /** What its price is, if that is something else: at the beginning of a trial. */
  readonly unitPrice?: bigint
  /** `api` if left out: a checkout of ours. */
  readonly origin?: 'subscription_recurring' | 'subscription_charge'
  /** Its price is charged again and again. */
  readonly cycle?: Cycle
  readonly trial?: Cycle
  subscriptionId?: string
  readonly period?: Span
  /** Of the attempts that failed. */
  errorCode?: string
  readonly currency: string
  readonly url: string
  readonly createdAt: string
  readonly priceName: string
  /** The page and the payer can replace it. */
  customData: Readonly<Record<string, unknown>> | null
  status: 'draft' | 'ready' | 'billed' | 'paid' | 'completed' | 'canceled' | 'past_due'
  /** Newest first. */
  attempts: readonly ('captured' | 'error')[]
}

type Action = 'cancel' | 'pause' | 'resume'

/** A subscription as a stand-in of Paddle's API has it. */
export interface HeldSubscription {
  readonly id: string
  /** The transaction that it began with. */
  readonly first: HeldTransaction
  readonly cycle: Cycle
  readonly startedAt: string
  readonly trial: Span | null
  status: 'active' | 'trialing' | 'past_due' | 'paused' | 'canceled'
  period: Span | null
  /** The ends of periods that were extended, by their starts. */
  readonly paidUntil: Map<string, string>
  /** A period that is charged and not paid. */
  unpaid: HeldTransaction | null
  change: { readonly action: Action; readonly at: string; readonly resumeAt: string | null } | null
  onResume: 'continue_existing_billing_period' | 'start_new_billing_period'
  pausedAt: string | null
  canceledAt: string | null
  /** The page and the payer can write it. */
  customData: Readonly<Record<string, unknown>> | null
}

/** A refund as a stand-in of Paddle's API has it. */
export interface HeldAdjustment {
  readonly id: string
  readonly transaction: HeldTransaction
  readonly amount: bigint
  readonly isWhole: boolean
  readonly reason: string
  readonly createdAt: string
  status: 'pending_approval' | 'approved'
}

const inputOf = ({ id, paymentId, amount, currency, createdAt }: HeldTransaction) => ({
  transactionId: id,
  paymentId,
  amount,
  currency,
  occurredAt: createdAt,
})

/** As version 1 of the API renders it. */
export function renderTransaction(held: HeldTransaction): object {
  const status = held.status === 'draft' ? 'ready' : held.status
  const attempts = held.attempts.map((attempt) => {
    const { payments } = sampleTransaction(inputOf(held), { status, attempt }) as {
      readonly payments: readonly object[]
    }
    const isError = attempt === 'error' && held.errorCode !== undefined
    return payments.map((one) => ({ ...one, ...(isError && { error_code: held.errorCode }) }))
  })
  const { items, ...sample } = sampleTransaction(inputOf(held), { status }) as {
    readonly items: readonly { readonly price: object }[]
  }
  // One that is only paid mostly has none yet.
  const isNumbered = status === 'billed' || status === 'completed'
  return {
    ...sample,
    items: items.map((item) => ({ ...item, price: { ...item.price, ...priceFieldsOf(held) } })),
    status: held.status,
    origin: held.origin ?? 'api',
    custom_data: held.customData,
    payments: attempts.flat(),
    checkout: { url: held.url },
    subscription_id: held.subscriptionId ?? null,
    billing_period: held.period ?? null,
    invoice_id: isNumbered ? held.id.replace('txn_', 'inv_') : null,
    invoice_number: isNumbered ? `4711-${held.id.slice(-6)}` : null,
  }
}

/** What a price holds besides what every sample has. */
export function priceFieldsOf(held: HeldTransaction): object {
  const amount = (held.unitPrice ?? held.amount).toString()
  return {
    description: held.priceName,
    unit_price: { amount, currency_code: held.currency },
    billing_cycle: held.cycle ?? null,
    trial_period: held.trial ?? null,
  }
}

/** The one line item of a transaction. */
export const lineItemId = ({ paymentId }: HeldTransaction) => sampleId('txnitm', paymentId)

/** As version 1 of the API renders it. */
export function renderAdjustment(held: HeldAdjustment): object {
  const { transaction, status, isWhole, reason, id } = held
  const input = { ...inputOf(transaction), amount: held.amount, occurredAt: held.createdAt }
  const type = isWhole ? 'full' : 'partial'
  const { items, ...sample } = sampleAdjustment(input, { action: 'refund', status }) as {
    readonly items: readonly [object]
  }
  const amount = isWhole ? null : held.amount.toString()
  return {
    ...sample,
    id,
    type,
    reason,
    items: [{ ...items[0], id: sampleId('adjitm', id), type, amount }],
  }
}
