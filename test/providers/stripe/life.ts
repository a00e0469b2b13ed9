import type { SampleInput } from '../../../src/gateways/stripe/samples/event.ts'
import { boundary } from '../../../src/subscriptions/boundary.ts'
import type { Interval } from '../../../src/subscriptions/subscription.ts'
import {
  invoiceIntentOf,
  invoiceOf,
  subscriptionOf,
  type Lines,
  type Made,
  type Managed,
} from './subscription.ts'

/**
 * What becomes of a charge: it is paid, declined with this code, or waits for its payer to confirm
 * it, or for the bank.
 */
export type Ending = 'paid' | 'waits' | 'processing' | { readonly declined: string }

/** The subscriptions of the stand-in, and what happens to them as time goes by. */
export interface Lives {
  readonly all: readonly Managed[]
  /** What the payment of a resumed subscription's new period comes to. */
  whenResumed: Ending
  /** The subscription that the payment has begun. */
  of(paymentId: string): Managed
  begin(input: SampleInput, plan: Plan): Managed
  /** Its period, or its trial, is over: it ends, or the next one is charged. */
  renew(managed: Managed, ending?: Ending, lines?: Lines): void
  /** Another plan from now on: its first period is charged at once. */
  changePlan(managed: Managed, plan: { readonly every: Interval; readonly amount: bigint }): void
  /** The open invoice is tried again. */
  retry(managed: Managed, ending: Ending): void
  /** No try is left. */
  giveUp(managed: Managed, how: 'canceled' | 'unpaid' | 'paused'): void
  plan(managed: Managed, cancelAt: number | null): void
  end(managed: Managed): void
  pause(managed: Managed, reason: string): void
  resume(managed: Managed): void
}

export interface Plan {
  readonly every: Interval
  readonly trialEndsAt: number | null
}

interface World {
  seconds(): number
  tell(type: string, object: object, previous?: object): void
}

const day = 86_400

export function createLives({ seconds, tell }: World): Lives {
  const all: Managed[] = []
  const updated = (managed: Managed, previous: object) =>
    tell('customer.subscription.updated', subscriptionOf(managed), previous)
  const become = (managed: Managed, status: Managed['status']) => {
    const { status: before } = managed
    if (before === status) return
    managed.status = status
    updated(managed, { status: before })
  }
  const charge = (managed: Managed, made: Made, ending: Ending) => {
    made.attempts += 1
    made.changedAt = seconds()
    made.nextAttemptAt = null
    made.declineCode = typeof ending === 'object' ? ending.declined : undefined
    if (ending === 'paid') {
      Object.assign(made, { intent: 'succeeded', status: 'paid' })
      if (made.amount > 0n) tell('payment_intent.succeeded', invoiceIntentOf(managed, made))
      tell('invoice.paid', invoiceOf(managed, made))
      return
    }
    if (ending === 'processing') {
      made.intent = 'processing'
      return
    }
    made.intent = ending === 'waits' ? 'requires_action' : 'requires_payment_method'
    if (ending !== 'waits') made.nextAttemptAt = seconds() + 3 * day
    if (ending === 'waits') tell('invoice.payment_action_required', invoiceOf(managed, made))
    else tell('payment_intent.payment_failed', invoiceIntentOf(managed, made))
    tell('invoice.payment_failed', invoiceOf(managed, made))
  }
  const follow = (managed: Managed, made: Made, ending: Ending) => {
    charge(managed, made, ending)
    if (ending === 'paid') become(managed, 'active')
    else if (ending !== 'processing') become(managed, 'past_due')
  }
  const invoice = (
    managed: Managed,
    reason: Made['reason'],
    { amount, lines = 'period' }: { readonly amount: bigint; readonly lines?: Lines },
  ): Made => {
    const number = managed.invoices.length + 1
    const { idPart } = managed.input
    const made: Made = {
      id: `in_${idPart}${number}`,
      number: `STANDIN-${number.toString().padStart(4, '0')}`,
      reason,
      lines,
      status: 'open',
      amount,
      period: managed.period,
      createdAt: seconds(),
      changedAt: seconds(),
      attempts: 0,
      nextAttemptAt: null,
      intentId: `pi_${idPart}${number}`,
      intent: 'requires_payment_method',
      declineCode: undefined,
    }
    managed.invoices.push(made)
    tell('invoice.finalized', invoiceOf(managed, made))
    return made
  }
  const openInvoice = (managed: Managed): Made => {
    const made = managed.invoices.findLast(({ status }) => status === 'open')
    if (made === undefined) throw new Error('no invoice is open')
    return made
  }
  const end = (managed: Managed) => {
    const at = seconds()
    managed.status = 'canceled'
    Object.assign(managed, { endedAt: at, canceledAt: managed.canceledAt ?? at, cancelAt: null })
    tell('customer.subscription.deleted', subscriptionOf(managed))
  }
  const lives: Lives = {
    all,
    whenResumed: 'paid',
    of: (paymentId) => {
      const found = all.find(({ input }) => input.paymentId === paymentId)
      if (found === undefined) throw new Error(`payment ${paymentId} has begun no subscription`)
      return found
    },
    begin: (input, plan) => {
      const managed = newManaged(input, plan, seconds())
      all.push(managed)
      tell('customer.subscription.created', subscriptionOf(managed))
      const isTrial = plan.trialEndsAt !== null
      const made = invoice(managed, 'subscription_create', {
        amount: isTrial ? 0n : input.amount,
      })
      charge(managed, made, 'paid')
      return managed
    },
    renew: (managed, ending = 'paid', lines = 'period') => {
      const { status, cancelAt, period } = managed
      if (status === 'paused' || status === 'canceled') throw new Error(`it is ${status}`)
      if (cancelAt !== null && cancelAt <= period.end) return end(managed)
      if (status !== 'trialing') managed.number += 1
      managed.period = periodOf(managed)
      if (status === 'trialing') managed.status = 'active'
      updated(managed, { status, latest_invoice: managed.invoices.at(-1)?.id })
      const made = invoice(managed, 'subscription_cycle', { amount: managed.amount, lines })
      follow(managed, made, ending)
    },
    changePlan: (managed, { every, amount }) => {
      const previous = { latest_invoice: managed.invoices.at(-1)?.id }
      Object.assign(managed, { every, amount, anchorAt: seconds(), number: 0 })
      managed.period = periodOf(managed)
      updated(managed, previous)
      follow(managed, invoice(managed, 'subscription_update', { amount }), 'paid')
    },
    retry: (managed, ending) => follow(managed, openInvoice(managed), ending),
    giveUp: (managed, how) => {
      openInvoice(managed).nextAttemptAt = null
      if (how === 'canceled') return end(managed)
      if (how === 'paused') return lives.pause(managed, 'final_payment_failure')
      become(managed, 'unpaid')
    },
    plan: (managed, cancelAt) => {
      const { cancelAt: before } = managed
      managed.cancelAt = cancelAt
      managed.canceledAt = cancelAt === null ? null : seconds()
      updated(managed, { cancel_at: before })
    },
    end,
    pause: (managed, reason) => {
      const { status } = managed
      Object.assign(managed, { status: 'paused', paused: { reason, at: seconds() } })
      tell('customer.subscription.paused', subscriptionOf(managed), { status })
    },
    resume: (managed) => {
      const now = seconds()
      const isPaid = lives.whenResumed === 'paid'
      const before = { anchorAt: managed.anchorAt, number: managed.number, period: managed.period }
      Object.assign(managed, { anchorAt: now, number: 0 })
      managed.period = periodOf(managed)
      const made = invoice(managed, 'subscription_update', { amount: managed.amount })
      charge(managed, made, lives.whenResumed)
      // It stays paused until its new period is paid.
      if (!isPaid) {
        Object.assign(managed, before)
        return
      }
      Object.assign(managed, { status: 'active', paused: null })
      tell('customer.subscription.resumed', subscriptionOf(managed), { status: 'paused' })
    },
  }
  return lives
}

function newManaged(input: SampleInput, { every, trialEndsAt }: Plan, now: number): Managed {
  const managed: Managed = {
    id: `sub_${input.idPart}`,
    input,
    every,
    amount: input.amount,
    createdAt: now,
    trialEndsAt,
    status: trialEndsAt === null ? 'active' : 'trialing',
    anchorAt: trialEndsAt ?? now,
    number: 0,
    period: { start: now, end: trialEndsAt ?? now },
    cancelAt: null,
    canceledAt: null,
    endedAt: null,
    paused: null,
    invoices: [],
  }
  if (trialEndsAt === null) managed.period = periodOf(managed)
  return managed
}

function periodOf({ anchorAt, every, number }: Managed): Managed['period'] {
  const cadence = { anchorAt: new Date(anchorAt * 1000), every, timeZone: 'UTC' }
  const at = (n: number) => boundary(cadence, n).getTime() / 1000
  return { start: at(number), end: at(number + 1) }
}
