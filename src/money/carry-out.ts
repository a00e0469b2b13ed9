import { findSubscription } from '../database/subscriptions.ts'
import { assertNever, QuittanceError } from '../kernel/errors.ts'
import { withUuid } from '../kernel/uuid.ts'
import type { SubscriptionState, WishResult } from '../subscriptions/change.ts'
import type { Subscription, WantedQuotas } from '../subscriptions/subscription.ts'
import type { MoneyContext } from './context.ts'
import { decideSubscription, type DecidedWish } from './decide-subscription.ts'
import type { SubscriptionMoment } from './subscription-moment.ts'

/** What somebody wants of a subscription, decided by how it stands. */
export type Wish = (state: SubscriptionState, moment: SubscriptionMoment) => WishResult

type QuotaWish = MoneyContext & {
  /** Quotas to give with the wish; undefined: no window moves by it, either. */
  readonly quotas?: WantedQuotas | undefined
}

/** Errors: `subscription_not_found`, `subscription_ended`, `subscription_invalid`, `renewal_under_way`. */
export async function carryOut(id: string, wish: Wish, context: QuotaWish): Promise<Subscription> {
  const decided = await decide(id, wish, context)
  if (decided.kind === 'refused') throw refusal(decided)
  return decided.subscription
}

/** What became of a wish. Error: `subscription_not_found`. */
export async function decide(id: string, wish: Wish, context: QuotaWish) {
  const found = await withUuid(id, (known) => decideSubscription(known, wish, context))
  const decided = found ?? ({ kind: 'not_found' } as const)
  if (decided.kind === 'not_found') throw notFound(id)
  return decided
}

const notAsItIs = 'Look at how it stands: quittance subscriptions show ID'

/** The error that says why a wish was not carried out. */
export function refusal(refused: DecidedWish & { readonly kind: 'refused' }): QuittanceError {
  const { reason, field, text } = refused
  switch (reason) {
    case 'subscription_ended':
      return new QuittanceError('subscription_ended', text)
    case 'renewal_under_way':
      return new QuittanceError('renewal_under_way', text)
    case 'subscription_invalid':
      return field === undefined
        ? new QuittanceError('subscription_invalid', text, { fix: notAsItIs })
        : new QuittanceError('subscription_invalid', `${field}: ${text}`, { field })
    default:
      return assertNever(reason)
  }
}

/** Error: `subscription_not_found`. */
export async function requireSubscription(
  id: string,
  { processing }: MoneyContext,
): Promise<Subscription> {
  const { db } = processing.database
  const found = await withUuid(id, (known) => findSubscription(db, known))
  if (found === undefined) throw notFound(id)
  return found
}

function notFound(id: string): QuittanceError {
  const text = `there is no subscription ${JSON.stringify(id.slice(0, 80))}`
  return new QuittanceError('subscription_not_found', text)
}
