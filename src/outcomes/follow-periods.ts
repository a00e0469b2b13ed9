import type { Kysely } from 'kysely'
import { lockSubscriptionState, lockSubscriptionStates } from '../database/lock-subscriptions.ts'
import { findPaymentMethod, savedWith } from '../database/payment-methods.ts'
import {
  writeChanges,
  type ChangeOrigin,
  type WrittenChange,
} from '../database/subscription-changes.ts'
import { findPeriod, findPeriods } from '../database/subscription-periods.ts'
import type { Tables } from '../database/tables.ts'
import { declineKindOf } from '../gateways/decline-kind.ts'
import { assertNever } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Payment, PaymentStatus } from '../payments/payment.ts'
import type {
  DecidedPayment,
  Moment,
  StatedTime,
  SubscriptionChange,
  SubscriptionState,
} from '../subscriptions/change.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { takePayment } from '../subscriptions/take-payment.ts'
import type { Entry, Report, SubscriptionContext } from './applied.ts'
import type { FoundPayments } from './find-payments.ts'
import type { Follower } from './follower.ts'

/**
 * What follows for the subscriptions of periods. Followers behind it change the subscriptions of cards
 * and those that providers manage: these are locked now, too.
 */
export const followPeriods: Follower = async (db, moved, applying) => {
  const { entries, before, payments, ids, managed } = moved
  const reports = new Map(entries.map((entry) => [ids.get(entry), entry]))
  const decided = movedOfPeriods(before, payments).flatMap((payment) => {
    const entry = reports.get(payment.id)
    if (entry === undefined) return []
    const stated = timeStated(entries, { payment, ids })
    const writing = writingOf(entry.report, applying.newId)
    return [{ payment, writing, stated }]
  })
  const cards = entries.filter(({ outcome }) => outcome.type === 'payment_method')
  const alsoLocked = cards.flatMap((entry) => payments.get(ids.get(entry) ?? '')?.periodId ?? [])
  await grantPeriods(db, { moved: decided, alsoLocked, alsoLockedIds: managed.ids }, applying)
  return {}
}

/** The time that the payment pays for, if one of its reports says so: not all of them do. */
function timeStated(
  entries: readonly Entry[],
  { payment, ids }: Pick<FoundPayments, 'ids'> & { readonly payment: Payment },
): StatedTime {
  const reports = entries.flatMap((entry) => {
    const { outcome } = entry
    const isIts = outcome.type === 'payment' && ids.get(entry) === payment.id
    return isIts && outcome.status === payment.status ? outcome : []
  })
  const period = reports.find((outcome) => outcome.period !== undefined)?.period
  const chargedAt = reports.find((outcome) => outcome.chargedAt !== undefined)?.chargedAt
  return { ...period, ...(chargedAt !== undefined && { chargedAt }) }
}

/** How what follows from a report is written. */
export function writingOf(
  { cause, callId, queue = 'default' }: Report,
  newId: NewId,
): ChangeOrigin {
  return { newId, cause, callId, queue }
}

/** A payment of a period that was moved, and what led to that. */
interface MovedPayment {
  readonly payment: Payment & { readonly periodId: string }
  readonly writing: ChangeOrigin
  /** The time that it pays for, if its report says so. */
  readonly stated: StatedTime
}

/** Payments of periods that have another status than before. */
function movedOfPeriods(
  before: ReadonlyMap<string, PaymentStatus>,
  payments: ReadonlyMap<string, Payment>,
): readonly MovedPayment['payment'][] {
  return [...payments.values()].filter(
    (payment): payment is MovedPayment['payment'] =>
      payment.periodId !== null && payment.status !== before.get(payment.id),
  )
}

interface Grants {
  readonly moved: readonly MovedPayment[]
  /** Periods whose subscriptions are changed later in this transaction. */
  readonly alsoLocked: readonly string[]
  /** The same, by the ids of the subscriptions. */
  readonly alsoLockedIds: readonly string[]
}

/**
 * Lets periods take note of payments that were decided, in the transaction that has moved them and
 * still holds them: a paid one is granted, a declined one is counted, money that bought nothing is
 * shown to a person. The subscriptions are locked after the payments, in the order of their ids.
 */
async function grantPeriods(
  db: Kysely<Tables>,
  { moved, alsoLocked, alsoLockedIds }: Grants,
  context: SubscriptionContext,
): Promise<void> {
  const periodIds = [...moved.map(({ payment }) => payment.periodId), ...alsoLocked]
  if (periodIds.length === 0 && alsoLockedIds.length === 0) return
  const periods = await findPeriods(db, periodIds)
  const ofPeriods = [...periods.values()].map(({ subscriptionId }) => subscriptionId)
  const ids = [...new Set([...ofPeriods, ...alsoLockedIds])]
  const states = await lockSubscriptionStates(db, ids, context.gateways)
  if (moved.length === 0) return
  const moment = {
    now: await context.subscriptionTime(db),
    policy: context.subscriptionPolicy,
    held: false,
  }
  const changes = new Map<string, WrittenChange>()
  const write = async () => {
    await writeChanges(db, [...changes.values()])
    // Each of them stands otherwise now.
    for (const id of changes.keys()) states.delete(id)
    changes.clear()
  }
  for (const { payment, writing, stated } of moved.toSorted(byPayment)) {
    const id = periods.get(payment.periodId)?.subscriptionId
    if (id === undefined) continue
    if (changes.has(id)) await write()
    // As it is after the payments before this one.
    const state = states.get(id) ?? (await lockSubscriptionState(db, id, context.gateways))
    if (state !== undefined) states.set(id, state)
    const period = state && (await periodOf(db, payment.periodId, state))
    if (state === undefined || period === undefined) continue
    const change = await takeOne(db, { payment, period, state, stated, moment }, context)
    if (change === undefined) continue
    if (change.payment !== null) throw new Error('a decided payment makes no other')
    changes.set(id, { change, writing })
  }
  await write()
}

/** The period that waits for its money has been read with the state. */
async function periodOf(
  db: Kysely<Tables>,
  id: string,
  { open }: SubscriptionState,
): Promise<SubscriptionPeriod | undefined> {
  return open?.id === id ? open : findPeriod(db, id)
}

function byPayment(a: MovedPayment, b: MovedPayment): number {
  return a.payment.id < b.payment.id ? -1 : 1
}

interface TakenPayment {
  readonly payment: Payment
  readonly period: SubscriptionPeriod
  readonly state: SubscriptionState
  readonly stated: StatedTime
  readonly moment: Moment
}

async function takeOne(
  db: Kysely<Tables>,
  taking: TakenPayment,
  context: SubscriptionContext,
): Promise<SubscriptionChange | undefined> {
  const decided = await decidedOf(db, taking, context)
  if (decided === undefined) return undefined
  const { state, moment } = taking
  const live = state.live?.id === decided.id ? null : state.live
  const change = takePayment({ ...state, live }, decided, moment)
  return { ...change, subscription: inModeOf(change.subscription, taking.payment) }
}

/** The money that it is paid with says whether it is real. */
function inModeOf(subscription: Subscription, { status, live }: Payment): Subscription {
  return status === 'paid' && subscription.live === null ? { ...subscription, live } : subscription
}

/** Undefined: it changes nothing. */
async function decidedOf(
  db: Kysely<Tables>,
  { payment, period, stated }: TakenPayment,
  context: SubscriptionContext,
): Promise<DecidedPayment | undefined> {
  const { id, status } = payment
  const isPage = payment.paymentMethodId === null
  const paymentMethodId = payment.paymentMethodId ?? (await findSaved(db, id))
  const about = { id, period, isPage, paymentMethodId }
  switch (status) {
    case 'paid':
      return { ...about, kind: 'paid', stated }
    case 'failed': {
      // The payer of a page may try again there.
      if (isPage) return undefined
      const found = context.gateways.find(payment.gateway)
      const decline = found ? declineKindOf(found.gateway, payment.declineCode) : 'soft'
      return { ...about, kind: 'declined', decline }
    }
    case 'canceled':
      return (await isOurFault(db, payment))
        ? { ...about, kind: 'ours', text: payment.operationError ?? 'the request was refused' }
        : { ...about, kind: 'not_made' }
    case 'pending':
      return undefined
    default:
      return assertNever(status)
  }
}

/** The card that was saved with it last. */
async function findSaved(db: Kysely<Tables>, paymentId: string): Promise<string | null> {
  const saved = await savedWith(db, paymentId)
  return saved.findLast(({ status }) => status === 'attached')?.id ?? null
}

/** A request that was refused without a decline; not if the card had been removed meanwhile. */
async function isOurFault(db: Kysely<Tables>, payment: Payment): Promise<boolean> {
  const { paymentMethodId: id, checkout } = payment
  if (checkout !== 'refused' || id === null) return false
  return (await findPaymentMethod(db, id))?.status === 'attached'
}
