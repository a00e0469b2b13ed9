import { move, timeAt, happen, type Account } from './account.ts'
import {
  renderTransaction,
  type HeldSubscription,
  type HeldTransaction,
  type Span,
} from './entities.ts'
import { begin, spanFrom, subscriptionOf, tell } from './subscriptions.ts'

/**
 * What becomes of a subscription at Paddle by itself or by its payer. Events are told in the order
 * of Paddle's own scenarios (https://developer.paddle.com/webhooks/simulator/overview); on their
 * way they may come in any other. Subscriptions are named by their ids, or by the payments that
 * began them.
 */
export interface Lives {
  /** Its period, or its trial, is over: the next one is charged and paid. */
  renew(subscription: string): HeldTransaction
  /** The same, but the charge is declined; if it was before, one more retry is. */
  failRenewal(subscription: string, errorCode?: string): HeldTransaction
  /** The payer pays what is past due. */
  recover(subscription: string): void
  /** Paddle's retries are over. */
  giveUp(subscription: string, how: 'cancel' | 'pause'): void
  /** Its period ends later than it was sold for: the next one is charged then. */
  extend(subscription: string, days: number): void
  /** What is planned comes to pass; a new period that begins with it is paid. */
  reachPlanned(subscription: string): void
  /** What is charged in between, e.g. for an extra. */
  chargeExtra(subscription: string, amount: bigint): HeldTransaction
}

export function livesIn(account: Account): Lives {
  return {
    renew(id) {
      const held = subscriptionOf(account, id)
      const charge = billNext(account, held)
      take(account, charge)
      return charge
    },
    failRenewal(id, errorCode = 'declined') {
      const held = subscriptionOf(account, id)
      if (held.unpaid !== null) return decline(account, held.unpaid, errorCode)
      const charge = decline(account, billNext(account, held), errorCode)
      move(account, charge, { action: 'past_due', status: 'past_due' })
      Object.assign(held, { status: 'past_due', unpaid: charge })
      tell(account, held, 'updated', 'past_due')
      return charge
    },
    recover(id) {
      const held = subscriptionOf(account, id)
      const { unpaid } = held
      if (unpaid === null) throw new Error(`nothing of ${id} is past due`)
      Object.assign(held, { status: 'active', unpaid: null })
      take(account, unpaid, () => tell(account, held, 'activated', 'updated'))
    },
    giveUp(id, how) {
      const held = subscriptionOf(account, id)
      if (how === 'cancel') cancelNow(account, held)
      else pauseNow(account, held, null)
    },
    extend(id, days) {
      const held = subscriptionOf(account, id)
      if (held.period === null) throw new Error(`${id} is in no period`)
      const end = new Date(held.period.ends_at)
      end.setUTCDate(end.getUTCDate() + days)
      held.period = { ...held.period, ends_at: end.toISOString() }
      held.paidUntil.set(held.period.starts_at, held.period.ends_at)
      tell(account, held, 'updated')
    },
    reachPlanned: (id) => reachPlanned(account, subscriptionOf(account, id)),
    chargeExtra(id, amount) {
      const held = subscriptionOf(account, id)
      const charge = bill(account, held, { origin: 'subscription_charge', amount })
      take(account, charge)
      return charge
    },
  }
}

/** A checkout is paid; with a recurring price, a subscription begins. */
export function payCheckout(account: Account, transaction: HeldTransaction): void {
  const { cycle } = transaction
  transaction.attempts = ['captured', ...transaction.attempts]
  transaction.status = 'completed'
  const paid = { status: 'paid', invoice_id: null, invoice_number: null }
  happen(account, 'transaction.paid', { ...renderTransaction(transaction), ...paid })
  if (cycle !== undefined) {
    const held = begin(account, transaction, cycle)
    tell(account, held, 'created', held.trial === null ? 'activated' : 'trialing')
    Object.assign(transaction, { subscriptionId: held.id, period: held.period })
    move(account, transaction, { action: 'updated' })
  }
  move(account, transaction, { action: 'completed' })
}

interface Bill {
  readonly origin: 'subscription_recurring' | 'subscription_charge'
  readonly amount: bigint
  readonly period?: Span
}

function bill(account: Account, held: HeldSubscription, given: Bill): HeldTransaction {
  const { first } = held
  const { trial: _, cycle: __, period: ___, ...like } = first
  const id = account.newId('txn')
  const made: HeldTransaction = {
    ...like,
    ...given,
    cycle: held.cycle,
    id,
    createdAt: timeAt(account),
    url: first.url.replace(first.id, id),
    subscriptionId: held.id,
    customData: null,
    status: 'ready',
    attempts: [],
  }
  account.transactions.push(made)
  move(account, made, { action: 'created' })
  move(account, made, { action: 'billed', status: 'billed' })
  return made
}

/** The period moves on before anything of it is paid. */
function billNext(account: Account, held: HeldSubscription): HeldTransaction {
  if (held.period === null) throw new Error(`${held.id} is in no period`)
  const wasTrial = held.status === 'trialing'
  held.period = spanFrom(held.period.ends_at, held.cycle)
  held.status = 'active'
  tell(account, held, ...(wasTrial ? ['activated', 'updated'] : ['updated']))
  return billPeriod(account, held)
}

function billPeriod(account: Account, held: HeldSubscription): HeldTransaction {
  const { period, first } = held
  const amount = first.unitPrice ?? first.amount
  const origin = 'subscription_recurring'
  return bill(account, held, { origin, amount, ...(period !== null && { period }) })
}

function take(account: Account, charge: HeldTransaction, then = () => {}): void {
  const attempts = ['captured', ...charge.attempts] as const
  move(account, charge, { action: 'updated', attempts })
  move(account, charge, { action: 'paid', status: 'paid' })
  then()
  move(account, charge, { action: 'updated' })
  move(account, charge, { action: 'completed', status: 'completed' })
}

function decline(account: Account, charge: HeldTransaction, errorCode: string): HeldTransaction {
  charge.errorCode = errorCode
  move(account, charge, { action: 'payment_failed', attempts: ['error', ...charge.attempts] })
  return charge
}

/** What is owed is not asked for any more. */
function dropUnpaid(account: Account, held: HeldSubscription): void {
  const { unpaid } = held
  held.unpaid = null
  if (unpaid !== null) move(account, unpaid, { action: 'canceled', status: 'canceled' })
}

export function cancelNow(account: Account, held: HeldSubscription): void {
  dropUnpaid(account, held)
  const canceledAt = timeAt(account)
  Object.assign(held, { status: 'canceled', period: null, change: null, canceledAt })
  tell(account, held, 'canceled', 'updated')
}

export function pauseNow(account: Account, held: HeldSubscription, resumeAt: string | null): void {
  dropUnpaid(account, held)
  const change = resumeAt === null ? null : { action: 'resume', at: resumeAt, resumeAt: null }
  Object.assign(held, { status: 'paused', pausedAt: timeAt(account), change })
  tell(account, held, 'paused', 'updated')
}

/** A new period begins then, and is paid; or the old one goes on. */
export function resumeNow(account: Account, held: HeldSubscription): void {
  const isNew = held.onResume === 'start_new_billing_period'
  if (isNew) held.period = spanFrom(timeAt(account), held.cycle)
  Object.assign(held, { status: 'active', pausedAt: null, change: null })
  tell(account, held, 'resumed', 'updated')
  if (isNew) take(account, billPeriod(account, held))
}

function reachPlanned(account: Account, held: HeldSubscription): void {
  const { change } = held
  if (change === null) throw new Error(`nothing is planned for ${held.id}`)
  held.change = null
  if (change.action === 'cancel') cancelNow(account, held)
  else if (change.action === 'pause') pauseNow(account, held, change.resumeAt)
  else resumeNow(account, held)
}
