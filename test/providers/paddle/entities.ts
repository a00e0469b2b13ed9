import { sampleAdjustment } from '../../../src/gateways/paddle/samples/adjustment.ts'
import { sampleId } from '../../../src/gateways/paddle/samples/event.ts'
import { sampleTransaction } from '../../../src/gateways/paddle/samples/transaction.ts'

/** A transaction as a stand-in of Paddle's API has it. */
export interface HeldTransaction {
  readonly id: string
  readonly paymentId: string
  readonly amount: bigint
  readonly currency: string
  readonly url: string
  readonly createdAt: string
  readonly priceName: string
  /** The page and the payer can replace it. */
  customData: Readonly<Record<string, unknown>> | null
  status: 'draft' | 'ready' | 'completed' | 'canceled'
  /** Newest first. */
  attempts: readonly ('captured' | 'error')[]
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
    return payments
  })
  const { items, ...sample } = sampleTransaction(inputOf(held), { status }) as {
    readonly items: readonly { readonly price: object }[]
  }
  return {
    ...sample,
    items: items.map((item) => ({
      ...item,
      price: { ...item.price, description: held.priceName },
    })),
    status: held.status,
    origin: 'api',
    custom_data: held.customData,
    payments: attempts.flat(),
    checkout: { url: held.url },
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
