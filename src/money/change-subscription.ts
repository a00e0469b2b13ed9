import { requireAllowedReturn } from '../checkout/draft-payment.ts'
import { requirePaymentMethod } from '../checkout/require-payment-method.ts'
import { findPayment } from '../database/payments.ts'
import { readReturnUrl } from '../database/subscription-creations.ts'
import { requireGateway, requireOperation } from '../gateways/require.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { withUuid } from '../kernel/uuid.ts'
import type { Payment } from '../payments/payment.ts'
import { cancelSubscription } from '../subscriptions/cancel-subscription.ts'
import { inFull } from '../subscriptions/change-quotas.ts'
import { changeSubscription } from '../subscriptions/change-subscription.ts'
import type { LivePayment } from '../subscriptions/change.ts'
import { pauseSubscription } from '../subscriptions/pause-subscription.ts'
import { payPeriod } from '../subscriptions/pay-period.ts'
import { resumeSubscription } from '../subscriptions/resume-subscription.ts'
import type { Subscription, Terms, WantedQuotas } from '../subscriptions/subscription.ts'
import { standingTermsOf } from '../subscriptions/terms.ts'
import { closePage } from './close-page.ts'
import type { SubscriptionContext } from './context.ts'
import {
  carryOut,
  decideSubscription,
  refusal,
  requireSubscription,
  type Wish,
} from './decide-subscription.ts'
import {
  cancelManaged,
  changeManaged,
  pauseManaged,
  payManaged,
  resumeManaged,
} from './managed-subscription.ts'
import { requireAddress } from './open-checkout.ts'
import { requireMoney } from './require-money.ts'
import { requirePlan } from './resolve-plan.ts'
import type { SubscriptionInputs } from './subscription-input.ts'

/**
 * Errors: `subscription_not_found`, `subscription_ended`; of one that a provider manages also those
 * of `askProviderTo`.
 */
export async function cancelNowOrLater(
  id: string,
  { at }: SubscriptionInputs['cancel'],
  context: SubscriptionContext,
): Promise<Subscription> {
  const known = await requireSubscription(id, context)
  if (known.managedBy === 'provider') return cancelManaged(known, at, context)
  return carryOut(id, (state, moment) => cancelSubscription(state, { at }, moment), context)
}

/**
 * Errors: `subscription_not_found`, `subscription_ended`, `subscription_invalid`,
 * `renewal_under_way`; of one that a provider manages also those of `askProviderTo`.
 */
export async function pauseNowOrLater(
  id: string,
  { at, until }: SubscriptionInputs['pause'],
  context: SubscriptionContext,
): Promise<Subscription> {
  const known = await requireSubscription(id, context)
  if (known.managedBy === 'provider') {
    return pauseManaged(known, { at, until: until ?? null }, context)
  }
  return carryOut(
    id,
    (state, moment) => pauseSubscription(state, { at, until: until ?? null }, moment),
    context,
  )
}

/** The same errors. */
export async function resume(id: string, context: SubscriptionContext): Promise<Subscription> {
  const known = await requireSubscription(id, context)
  if (known.managedBy === 'provider') return resumeManaged(known, context)
  return carryOut(id, resumeSubscription, context)
}

/** The same errors, `payment_method_unusable`, and `operation_unsupported`. */
export async function change(
  id: string,
  input: SubscriptionInputs['change'],
  context: SubscriptionContext,
): Promise<Subscription> {
  const { db } = context.processing.database
  const known = await requireSubscription(id, context)
  if (known.managedBy === 'provider') return changeManaged(known, input, context)
  const found = requireGateway(context.processing.gateways, known.gateway)
  const { paymentMethodId, trialEndsAt, metadata } = input
  if (paymentMethodId != null) {
    const { merchantAccount } = known
    await requirePaymentMethod(db, { paymentMethodId, merchantAccount }, found)
  }
  const terms = termsIn(input, context)
  const wish: Wish = (state, moment) => {
    const { amount, currency } = state.subscription.nextTerms ?? state.subscription
    if (terms !== undefined) requireMoney(found, { amount, currency, ...terms })
    return changeSubscription(
      state,
      {
        ...terms,
        ...(paymentMethodId !== undefined && { paymentMethodId }),
        ...(trialEndsAt !== undefined && { trialEndsAt }),
        ...(metadata !== undefined && { metadata }),
        ...quotasOfPlan(input, standingTermsOf(state).plan, context),
      },
      moment,
    )
  }
  // The end of a trial is that of a window, too.
  const given = input.quotas === 'keep' ? undefined : input.quotas
  const quotas = given ?? (trialEndsAt === undefined ? undefined : {})
  return carryOut(id, wish, { ...context, quotas })
}

/**
 * The quotas that come with another plan. A quota that is given by hand beside the plan is left out.
 * The quotas of the plan before end; all others stay.
 */
function quotasOfPlan(
  { plan: name, quotas: given = {} }: SubscriptionInputs['change'],
  standing: string | null,
  { subscriptions: { plans } }: SubscriptionContext,
): { readonly planQuotas?: WantedQuotas | null } {
  if (given === 'keep') return { planQuotas: null }
  if (name === undefined || name === standing) return {}
  const before = standing !== null && Object.hasOwn(plans, standing) ? plans[standing] : undefined
  const ended = Object.keys(before?.quotas ?? {}).map((quota) => [quota, null] as const)
  // A quota of both plans is that of the new one, in what it leaves out, too.
  const own = Object.entries(requirePlan(name, plans).quotas ?? {}).map(
    ([quota, terms]) => [quota, terms && inFull(terms)] as const,
  )
  const all = Object.fromEntries([...ended, ...own])
  const coming = Object.entries(all).filter(([quota]) => !Object.hasOwn(given, quota))
  return coming.length === 0 ? {} : { planQuotas: Object.fromEntries(coming) }
}

/** A plan whole, and what is given beside it instead of its own; undefined: they stay. */
function termsIn(
  { plan: name, amount, every }: SubscriptionInputs['change'],
  { subscriptions }: SubscriptionContext,
): Partial<Terms> | undefined {
  const given = { ...(amount !== undefined && { amount }), ...(every !== undefined && { every }) }
  if (name === undefined) return amount === undefined && every === undefined ? undefined : given
  const plan = requirePlan(name, subscriptions.plans)
  return {
    plan: name,
    amount: plan.amount,
    currency: plan.currency,
    every: plan.every,
    ...given,
  }
}

/**
 * A page on which the payer pays what is owed; one that is open already is returned again, and so is
 * a charge that waits for its payer. Errors: `subscription_not_found`, `subscription_ended`,
 * `subscription_invalid`, `renewal_under_way`, `return_url_not_allowed`, `checkout_refused`,
 * `checkout_unknown`; `operation_unsupported` if its provider manages it, and there is no such page.
 */
export async function pay(
  id: string,
  { returnUrl: given }: SubscriptionInputs['pay'],
  context: SubscriptionContext,
): Promise<Payment> {
  requireAllowedReturn(given ?? null, context)
  const known = await requireSubscription(id, context)
  if (known.managedBy === 'provider') return payManaged(known, context)
  const returnUrl = given ?? (await usualReturn(id, context))
  const asking = { ...context, ...(returnUrl !== undefined && { returnUrl }) }
  const first = await askToPay(id, asking)
  if (first.live === undefined) return first.payment
  if (!first.live.hasEnded) return required(first.live.id, context)
  // Its time is over, but nobody has looked at it since.
  await closePage(first.live.id, first.live.now, context)
  const second = await askToPay(id, asking)
  if (second.live === undefined) return second.payment
  if (!second.live.hasEnded) return required(second.live.id, context)
  const text = 'the page to pay on has ended, and is not closed yet: try again in a few minutes'
  throw new QuittanceError('renewal_under_way', text)
}

/** It was allowed as the subscription was made. */
async function usualReturn(id: string, { processing, isAllowedReturn }: SubscriptionContext) {
  const url = await withUuid(id, (known) => readReturnUrl(processing.database.db, known))
  return url !== undefined && isAllowedReturn(url) ? url : undefined
}

type Asked =
  | { readonly live?: undefined; readonly payment: Payment }
  | { readonly live: { readonly id: string; readonly hasEnded: boolean; readonly now: Date } }

async function askToPay(id: string, context: SubscriptionContext): Promise<Asked> {
  let live: Exclude<Asked['live'], undefined> | undefined
  const decided = await decideSubscription(
    id,
    (state, moment) => {
      requireOperation(
        requireGateway(context.processing.gateways, state.subscription.gateway),
        'checkout',
      )
      live = waiting(state.live, moment.now)
      return payPeriod(state, moment)
    },
    context,
  )
  if (decided.kind === 'refused') {
    if (decided.reason === 'renewal_under_way' && live !== undefined) return { live }
    throw refusal(decided)
  }
  if (decided.payment === null) throw new Error(`subscription ${id} is paid without a payment`)
  return { payment: decided.payment }
}

/** A payment that waits for its payer: there is no second one beside it. */
function waiting(live: LivePayment | null, now: Date) {
  if (live === null || !(live.isPage || live.needsPayer)) return undefined
  const hasEnded = live.expiresAt !== null && live.expiresAt <= now
  return { id: live.id, hasEnded, now }
}

/** Error: `checkout_unknown` for a page whose address nobody knows: until a poll has found it, or none. */
async function required(id: string, context: SubscriptionContext): Promise<Payment> {
  const payment = await findPayment(context.processing.database.db, id)
  if (payment === undefined) throw new Error(`payment ${id} is gone`)
  return requireAddress(payment)
}
