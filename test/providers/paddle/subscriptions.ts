import type { StandInReply } from '../../support/stand-in.ts'
import { sampleSubscription } from '../../../src/gateways/paddle/samples/subscription.ts'
import { sampleTransaction } from '../../../src/gateways/paddle/samples/transaction.ts'
import { happen, timeAt, type Account } from './account.ts'
import {
  priceFieldsOf,
  type Cycle,
  type HeldSubscription,
  type HeldTransaction,
  type Span,
} from './entities.ts'
import { entity, problem } from './replies.ts'

interface Rendered {
  /** In the event that tells of its beginning, and nowhere else. */
  readonly isNew?: true
  /** In the API's replies alone. */
  readonly isReply?: true
  /** What the query asked to include. */
  readonly includes?: string | null
}

/** As version 1 of the API renders it. */
export function renderSubscription(
  held: HeldSubscription,
  { isNew, isReply, includes }: Rendered = {},
): object {
  const { first, status, change, period } = held
  const input = {
    transactionId: first.id,
    paymentId: first.paymentId,
    amount: first.unitPrice ?? first.amount,
    currency: first.currency,
    occurredAt: held.startedAt,
  }
  const state = { status, ...(isNew && { isNew }) }
  const { items, ...sample } = sampleSubscription(input, state) as {
    readonly items: readonly { readonly price: object }[]
  }
  const isBilled = status !== 'paused' && status !== 'canceled' && change === null
  const next = isBilled ? (period?.ends_at ?? null) : null
  return {
    ...sample,
    id: held.id,
    items: items.map((item) => ({
      ...item,
      price: { ...item.price, ...priceFieldsOf(first) },
      trial_dates: held.trial,
      next_billed_at: next,
    })),
    billing_cycle: held.cycle,
    current_billing_period: period,
    next_billed_at: next,
    paused_at: held.pausedAt,
    canceled_at: held.canceledAt,
    custom_data: held.customData,
    scheduled_change: change && {
      action: change.action,
      effective_at: change.at,
      resume_at: change.resumeAt,
    },
    ...(isReply && { management_urls: { update_payment_method: null, cancel: 'https://x' } }),
    ...(includes === 'recurring_transaction_details' && {
      recurring_transaction_details: new Map(
        Object.entries(sampleTransaction(input, { status: 'ready' })),
      ).get('details') as object,
    }),
  }
}

/** It is told as it is now. */
export function tell(account: Account, held: HeldSubscription, ...actions: readonly string[]) {
  for (const action of actions) {
    const isNew = action === 'created' ? ({ isNew: true } as const) : {}
    happen(account, `subscription.${action}`, renderSubscription(held, isNew))
  }
}

/** The time of this length that begins then; a day that a month lacks is its last one. */
export function spanFrom(start: string, { interval, frequency }: Cycle): Span {
  const end = new Date(start)
  const day = end.getUTCDate()
  const months = interval === 'year' ? frequency * 12 : interval === 'month' ? frequency : 0
  const days = interval === 'week' ? frequency * 7 : interval === 'day' ? frequency : 0
  end.setUTCDate(day + days)
  if (months > 0) {
    end.setUTCMonth(end.getUTCMonth() + months)
    if (end.getUTCDate() !== day) end.setUTCDate(0)
  }
  return { starts_at: start, ends_at: end.toISOString() }
}

/** What a paid checkout with a recurring price begins. */
export function begin(account: Account, first: HeldTransaction, cycle: Cycle): HeldSubscription {
  const startedAt = timeAt(account)
  const trial = first.trial === undefined ? null : spanFrom(startedAt, first.trial)
  const held: HeldSubscription = {
    id: account.newId('sub'),
    first,
    cycle,
    startedAt,
    trial,
    status: trial === null ? 'active' : 'trialing',
    period: trial ?? spanFrom(startedAt, cycle),
    paidUntil: new Map(),
    unpaid: null,
    change: null,
    onResume: 'start_new_billing_period',
    pausedAt: null,
    canceledAt: null,
    customData: first.customData,
  }
  account.subscriptions.push(held)
  return held
}

/** The subscription with this id, or the one that this payment began. */
export function subscriptionOf(account: Account, idOrPayment: string): HeldSubscription {
  const found = account.subscriptions.find(
    ({ id, first }) => id === idOrPayment || first.paymentId === idOrPayment,
  )
  if (found === undefined) throw new Error(`Paddle has no subscription of ${idOrPayment}`)
  return found
}

/** It exists, and its reply follows. */
export function replyOf(held: HeldSubscription, includes?: string | null): StandInReply {
  return entity(renderSubscription(held, { isReply: true, includes: includes ?? null }))
}

/** Another subscription, which nobody has asked about. */
export function strangeSubscription(account: Account, first: HeldTransaction): StandInReply {
  const held = { ...begin(account, first, { interval: 'month', frequency: 1 }) }
  account.subscriptions.pop()
  return replyOf(held)
}

export const noSubscription = problem(404, 'entity_not_found')
