import { fieldError } from '../kernel/errors.ts'
import { choiceAmong } from '../kernel/similar-name.ts'
import type { Plan } from '../subscriptions/plan.ts'
import type { Interval } from '../subscriptions/subscription.ts'

export type Plans = Readonly<Record<string, Plan>>

/** Error: `subscription_invalid`, naming the plans that there are. */
export function requirePlan(name: string, plans: Plans): Plan {
  const plan = Object.hasOwn(plans, name) ? plans[name] : undefined
  if (plan !== undefined) return plan
  const names = Object.keys(plans)
  const choice = names.length === 0 ? '; the settings have no plans' : choiceAmong(name, names)
  throw fieldError('subscription_invalid', 'plan', `${JSON.stringify(name)} is unknown${choice}`)
}

interface Wanted {
  readonly plan?: string | undefined
  readonly amount?: bigint | undefined
  readonly currency?: string | undefined
  readonly every?: Interval | undefined
  readonly trialDays?: number | undefined
  readonly trialEndsAt?: Date | undefined
  readonly paidUntil?: Date | undefined
}

/** What a subscription is made with; the plan is copied, so nothing of it is looked up later. */
export interface ResolvedTerms {
  readonly plan: string | null
  readonly amount: bigint
  readonly currency: string
  readonly every: Interval
  readonly trial: { readonly days: number } | { readonly endsAt: Date } | null
}

/**
 * The terms of a new subscription: those of the plan, where nothing else was given. What was paid
 * elsewhere goes on without a trial. Error: `subscription_invalid`.
 */
export function resolveTerms(wanted: Wanted, plans: Plans): ResolvedTerms {
  const plan = wanted.plan === undefined ? undefined : requirePlan(wanted.plan, plans)
  const { amount = plan?.amount, currency = plan?.currency, every = plan?.every } = wanted
  if (amount === undefined) throw lacking('amount')
  if (currency === undefined) throw lacking('currency')
  if (every === undefined) throw lacking('every')
  return { plan: wanted.plan ?? null, amount, currency, every, trial: trialOf(wanted, plan) }
}

function trialOf(
  { trialDays, trialEndsAt, paidUntil }: Wanted,
  plan: Plan | undefined,
): ResolvedTerms['trial'] {
  if (trialEndsAt !== undefined && trialDays !== undefined) {
    throw fieldError('subscription_invalid', 'trialEndsAt', 'is given beside a number of days')
  }
  const hasTrial = trialEndsAt !== undefined || (trialDays ?? 0) > 0
  if (hasTrial && paidUntil !== undefined) {
    throw fieldError('subscription_invalid', 'paidUntil', 'is given beside a trial')
  }
  if (trialEndsAt !== undefined) return { endsAt: trialEndsAt }
  const days = paidUntil === undefined ? (trialDays ?? plan?.trialDays ?? 0) : 0
  return days === 0 ? null : { days }
}

function lacking(field: string) {
  return fieldError('subscription_invalid', field, 'is required, or a plan')
}
