import { sql, type Kysely } from 'kysely'
import { lockSubscriptionState } from '../database/lock-subscriptions.ts'
import { upsertPaymentMethod } from '../database/payment-methods.ts'
import { writeChange, type ChangeOrigin } from '../database/subscription-changes.ts'
import { findPeriod } from '../database/subscription-periods.ts'
import type { Tables } from '../database/tables.ts'
import { dedupKey } from '../events/catalogue.ts'
import { namesOfCard, paymentMethodEventType } from '../events/dedup-key.ts'
import type { PaymentMethodOutcome } from '../payments/outcome.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import type { Payment } from '../payments/payment.ts'
import { accountMismatch } from '../payments/transition.ts'
import { useCard } from '../subscriptions/use-card.ts'
import { writingOf } from './follow-periods.ts'
import {
  ignoredResult,
  type Applied,
  type ApplyContext,
  type Entry,
  type SubscriptionContext,
} from './applied.ts'

interface AttachedTo extends ApplyContext {
  /** The payment with which it was saved, if there is one. */
  readonly payment: Payment | undefined
}

/**
 * Records a card that was saved or removed. Its token is stored encrypted, while the card is saved.
 */
export async function applyPaymentMethod(
  db: Kysely<Tables>,
  { report, outcome }: Entry<PaymentMethodOutcome>,
  { payment, ...applying }: AttachedTo,
): Promise<Applied> {
  const { newId, cipher } = applying
  const { gateway } = report
  const { status, reference, token, live = payment?.live ?? undefined } = outcome
  const reason = payment && accountMismatch(payment, gateway, outcome)
  if (reason !== undefined) return ignoredResult({ type: 'payment_method', reason, payment })
  const encrypted =
    token && cipher?.encrypt(Buffer.from(token.reveal()), tokenContext(gateway, reference))
  const method = await upsertPaymentMethod(db, {
    id: newId(),
    gateway,
    outcome: { ...outcome, ...(live !== undefined && { live }) },
    paymentId: payment?.id ?? null,
    token: status === 'attached' ? (encrypted ?? null) : null,
  })
  if (method.status !== status) {
    return ignoredResult({ type: 'payment_method', reason: 'already_settled', payment })
  }
  if (payment !== undefined) {
    const writing = writingOf(report, newId)
    await useSavedCard(db, { payment, method, writing }, applying)
  }
  const type = paymentMethodEventType(status)
  return {
    kind: 'claim',
    type: `payment_method:${status}`,
    payment,
    review: false,
    claim: {
      eventId: newId(),
      dedupKey: dedupKey(type, namesOfCard(method)),
      type,
      subject: { paymentMethod: method },
    },
  }
}

/** Ties an encrypted token to its row: copied into another row, it does not decrypt. */
export function tokenContext(gateway: string, reference: string): string {
  return `payment_methods/${gateway}/${reference}/token`
}

/**
 * A card that was saved with a payment of a subscription is what the subscription is charged by from
 * now on. The payment is locked. Said again of the same payment it changes nothing: meanwhile the
 * customer may have given another card.
 */
async function useSavedCard(
  db: Kysely<Tables>,
  {
    payment,
    method,
    writing,
  }: {
    readonly payment: Payment
    readonly method: PaymentMethod
    readonly writing: ChangeOrigin
  },
  context: SubscriptionContext,
): Promise<void> {
  if (payment.periodId === null || method.status !== 'attached') return
  const period = await findPeriod(db, payment.periodId)
  if (period === undefined || !(await isNews(db, payment, method))) return
  const state = await lockSubscriptionState(db, period.subscriptionId, context.gateways)
  if (state === undefined || !fits(state.subscription, method)) return
  const moment = {
    now: await context.subscriptionTime(db),
    policy: context.subscriptionPolicy,
    held: false,
  }
  await writeChange(db, useCard(state, method.id, moment), writing)
}

function fits(
  subscription: { readonly status: string; readonly gateway: string },
  method: PaymentMethod,
): boolean {
  return subscription.status !== 'canceled' && subscription.gateway === method.gateway
}

async function isNews(
  db: Kysely<Tables>,
  { id }: Payment,
  method: PaymentMethod,
): Promise<boolean> {
  const { rows } = await sql`
    update billing.payments set saved_card_id = ${method.id}::uuid
    where id = ${id}::uuid and saved_card_id is distinct from ${method.id}::uuid returning id`.execute(
    db,
  )
  return rows.length > 0
}
