import type { StandInReply } from '../../support/stand-in.ts'
import {
  lineItemId,
  renderAdjustment,
  renderTransaction,
  type HeldAdjustment,
  type HeldSubscription,
  type HeldTransaction,
} from './entities.ts'
import { entity, problem } from './replies.ts'
import type { NewAdjustment, NewTransaction } from './schemas.ts'

export interface Endpoint {
  readonly id: string
  readonly active: boolean
  readonly destination: string
  readonly subscribed_events: readonly string[]
  readonly endpoint_secret_key: string
}

/** What Paddle tells, in its list and by callbacks. */
export interface PlatformEvent {
  readonly event_id: string
  readonly event_type: string
  readonly occurred_at: string
  readonly data: object
}

/** A merchant's account at Paddle. */
export interface Account {
  readonly transactions: HeldTransaction[]
  readonly subscriptions: HeldSubscription[]
  readonly adjustments: HeldAdjustment[]
  readonly endpoints: Map<string, Endpoint>
  readonly events: PlatformEvent[]
  readonly faults: string[]
  /** Saved cards that were deleted. */
  readonly removed: Set<string>
  /** What time it is at Paddle. */
  now: () => Date
  /** At most so many entities on a page, where Paddle allows more. */
  pageLimit: number
  /** Ids ascend, as Paddle's do. */
  newId(prefix: string): string
}

export function createAccount(): Account {
  let made = 0
  return {
    transactions: [],
    subscriptions: [],
    adjustments: [],
    endpoints: new Map(),
    events: [],
    faults: [],
    removed: new Set(),
    now: () => new Date(),
    pageLimit: 200,
    newId: (prefix) => `${prefix}_01${String((made += 1)).padStart(24, '0')}`,
  }
}

/** As Paddle writes it. */
export const timeAt = ({ now }: Account) => now().toISOString()

/** Something happens that is told as it is now. */
export function happen(account: Account, type: string, data: object): void {
  const event = { event_id: account.newId('evt'), event_type: type, occurred_at: timeAt(account) }
  account.events.push({ ...event, data: structuredClone(data) })
}

export function move(
  account: Account,
  transaction: HeldTransaction,
  change: Partial<Pick<HeldTransaction, 'status' | 'attempts'>> & { readonly action: string },
): void {
  transaction.status = change.status ?? transaction.status
  transaction.attempts = change.attempts ?? transaction.attempts
  happen(account, `transaction.${change.action}`, renderTransaction(transaction))
}

const defaultPaymentLink = 'https://shop.example/pay'

export function openTransaction(account: Account, body: NewTransaction): StandInReply {
  const [{ price }] = body.items
  const url = new URL(body.checkout?.url ?? defaultPaymentLink)
  if (url.hostname === 'unapproved.example') {
    return problem(400, 'transaction_checkout_url_domain_is_not_approved')
  }
  const id = account.newId('txn')
  url.searchParams.set('_ptxn', id)
  const unitPrice = BigInt(price.unit_price.amount)
  const { billing_cycle: cycle, trial_period: trial } = price
  const made: HeldTransaction = {
    id,
    paymentId: body.custom_data.payment_id,
    // Nothing is charged before a trial is over.
    amount: trial === undefined ? unitPrice : 0n,
    unitPrice,
    ...(cycle !== undefined && { cycle }),
    ...(trial !== undefined && { trial }),
    currency: body.currency_code,
    url: url.href,
    createdAt: timeAt(account),
    priceName: price.description,
    customData: body.custom_data,
    // Until the payer has said who he is.
    status: 'draft',
    attempts: [],
  }
  account.transactions.push(made)
  move(account, made, { action: 'created' })
  return entity(renderTransaction(made), 201)
}

export function cancelTransaction(account: Account, id: string | undefined): StandInReply {
  const found = account.transactions.find((one) => one.id === id)
  if (found === undefined) return problem(404, 'not_found')
  if (found.status !== 'ready') return problem(400, 'transaction_invalid_status_change')
  move(account, found, { action: 'canceled', status: 'canceled' })
  return entity(renderTransaction(found))
}

export function refundsOf(account: Account, transaction: HeldTransaction) {
  return account.adjustments.filter((one) => one.transaction === transaction)
}

export function makeRefund(
  account: Account,
  fields: Omit<HeldAdjustment, 'id' | 'createdAt' | 'status'>,
): HeldAdjustment {
  const id = account.newId('adj')
  const made: HeldAdjustment = {
    ...fields,
    id,
    createdAt: timeAt(account),
    status: 'pending_approval',
  }
  account.adjustments.push(made)
  happen(account, 'adjustment.created', renderAdjustment(made))
  return made
}

export function approve(account: Account, adjustment: HeldAdjustment): void {
  adjustment.status = 'approved'
  happen(account, 'adjustment.updated', renderAdjustment(adjustment))
}

export function requestRefund(account: Account, body: NewAdjustment): StandInReply {
  const transaction = account.transactions.find(({ id }) => id === body.transaction_id)
  if (transaction === undefined) return problem(404, 'not_found')
  if (transaction.status !== 'completed') {
    return problem(400, 'adjustment_transaction_invalid_status_for_refund')
  }
  const earlier = refundsOf(account, transaction)
  if (earlier.some(({ status }) => status === 'pending_approval')) {
    return problem(400, 'adjustment_pending_refund_request')
  }
  const [item] = body.type === 'partial' ? body.items : []
  if (item !== undefined && item.item_id !== lineItemId(transaction)) {
    account.faults.push(`POST /adjustments: ${item.item_id} is no item of ${transaction.id}`)
    return problem(400, 'adjustment_transaction_item_invalid')
  }
  const amount = item?.type === 'partial' ? BigInt(item.amount) : transaction.amount
  const left = earlier.reduce((rest, one) => rest - one.amount, transaction.amount)
  if (amount > left) return problem(400, 'adjustment_amount_above_remaining_allowed')
  const isWhole = body.type === 'full'
  const made = makeRefund(account, { transaction, amount, isWhole, reason: body.reason })
  return entity(renderAdjustment(made), 201)
}

/** A completed transaction that nobody here has made. */
export function stranger(account: Account): HeldTransaction {
  return {
    id: account.newId('txn'),
    paymentId: '0198f0aa-0000-7000-8000-00000000dead',
    amount: 100n,
    currency: 'USD',
    url: `${defaultPaymentLink}?_ptxn=another`,
    createdAt: timeAt(account),
    priceName: 'Payment 0198f0aa-0000-7000-8000-00000000dead',
    customData: { payment_id: '0198f0aa-0000-7000-8000-00000000dead' },
    status: 'completed',
    attempts: ['captured'],
  }
}

/** A refund of it. */
export function strangeRefund(account: Account): HeldAdjustment {
  return {
    id: account.newId('adj'),
    transaction: stranger(account),
    amount: 1n,
    isWhole: false,
    reason: 'another',
    createdAt: timeAt(account),
    status: 'approved',
  }
}
