import { z } from 'zod'
import { paymentRules, type CustomerInput } from '../checkout/payment-input.ts'
import type { CurrencyCode } from '../kernel/currency-code.ts'
import { flag, jsonObject, oneOf, text, uuid } from '../kernel/input-rules.ts'
import { readInput } from '../kernel/read-input.ts'
import type { IntervalInput } from '../subscriptions/interval.ts'
import { managers, type ManagedBy } from '../subscriptions/subscription.ts'
import { quotas, type QuotasInput } from './quota-rules.ts'
import { countable, every, timeZone, trialDays } from './subscription-rules.ts'

/**
 * What a caller gives to make a subscription: a plan of the settings, or amount, currency and length
 * of a period. What is given beside a plan counts instead of the plan's own.
 */
export interface CreateSubscriptionInput<
  Gateway extends string = string,
  Plan extends string = string,
> {
  /** A UUID chosen by the caller: makes the call repeatable. */
  readonly id?: string | undefined
  /** One that can charge a saved card, or manages subscriptions. */
  readonly gateway: Gateway
  /**
   * Who charges each period: we charge a saved card (`local`, the default), or the provider does it
   * by itself, once the payer has paid on its checkout.
   */
  readonly managedBy?: ManagedBy | undefined
  /** Whom it is for; `access` looks it up: `{ type: 'account', id: '7' }`. */
  readonly payable: { readonly type: string; readonly id: string }
  /** The name of a plan of the settings, which is copied. */
  readonly plan?: Plan | undefined
  /** What a period costs, in minor units. */
  readonly amount?: bigint | number | undefined
  readonly currency?: CurrencyCode | undefined
  /** How long a period is: `month`, `3 months`, `{ unit: 'month', count: 3 }`. */
  readonly every?: IntervalInput | undefined
  /** Whole days without pay before the first period; or, exactly, when they end. */
  readonly trialDays?: number | undefined
  readonly trialEndsAt?: Date | undefined
  /** A saved card to charge; without one the payer pays the first period on a page, which saves it. */
  readonly paymentMethodId?: string | undefined
  /** Brought from another system, and paid there until then. */
  readonly paidUntil?: Date | undefined
  /** Whether access goes on while a declined renewal is tried again; else as the settings say. */
  readonly graceAccess?: boolean | undefined
  /** In whose days and months periods are counted; else as the settings say. */
  readonly timeZone?: string | undefined
  /** For the payer and the operator, on each of its payments; else they show the plan's name. */
  readonly description?: string | undefined
  /** As of payments: `email`, `ip`, `locale`. */
  readonly customer?: CustomerInput | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Where the payer can go on to after a payment on a page; its origin must be allowed. */
  readonly returnUrl?: string | undefined
  readonly merchantAccount?: string | undefined
  readonly live?: boolean | undefined
  /** What it may use, by the quotas' names; those of the plan stay, where not given anew. */
  readonly quotas?: QuotasInput | undefined
}

/** When a subscription ends or rests: now, or with what is paid already. */
export interface CancelSubscriptionInput {
  /** By default `period_end`: what is paid stays usable. */
  readonly at?: 'period_end' | 'now' | undefined
}

/** When a subscription rests, and until when. */
export interface PauseSubscriptionInput extends CancelSubscriptionInput {
  /** When it goes on by itself; else when it is resumed. */
  readonly until?: Date | undefined
}

/** What a subscription is from the next period on; a card, metadata and a trial's end at once. */
export interface ChangeSubscriptionInput<Plan extends string = string> {
  readonly plan?: Plan | undefined
  readonly amount?: bigint | number | undefined
  readonly every?: IntervalInput | undefined
  /** A saved card to charge from now on; null: none, so that each period is paid on its page. */
  readonly paymentMethodId?: string | null | undefined
  /** A time that has passed ends the trial now. */
  readonly trialEndsAt?: Date | undefined
  /** Null takes it away. */
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined
  /**
   * At once; those that are not named stay. Null takes one away. The quotas of another plan come when
   * its first period is granted; `keep`: they never come, and all stay as they are.
   */
  readonly quotas?: QuotasInput | 'keep' | undefined
}

/** How a customer pays what is owed. */
export interface PaySubscriptionInput {
  /**
   * Where the payer can go on to afterwards; its origin must be allowed. If left out, what was given
   * as the subscription was made.
   */
  readonly returnUrl?: string | undefined
}

const planName = text(64)

// As of payments: what decides about money or time is never null.
const creation = {
  id: paymentRules.id,
  gateway: paymentRules.gateway,
  managedBy: oneOf(managers).optional(),
  payable: paymentRules.payable,
  plan: planName.optional(),
  amount: paymentRules.amount.optional(),
  currency: paymentRules.currency.optional(),
  every: every.optional(),
  trialDays: trialDays.optional(),
  trialEndsAt: countable.optional(),
  paymentMethodId: uuid.optional(),
  paidUntil: countable.optional(),
  graceAccess: flag.optional(),
  timeZone: timeZone.optional(),
  description: paymentRules.description,
  customer: paymentRules.customer,
  metadata: paymentRules.metadata,
  returnUrl: paymentRules.returnUrl,
  merchantAccount: paymentRules.merchantAccount,
  live: paymentRules.live,
  quotas: quotas.optional(),
} satisfies Record<keyof CreateSubscriptionInput, z.ZodType>

const at = oneOf(['period_end', 'now']).default('period_end')
const cancellation = { at } satisfies Record<keyof CancelSubscriptionInput, z.ZodType>
const pausing = {
  at,
  until: countable.optional(),
} satisfies Record<keyof PauseSubscriptionInput, z.ZodType>
const changing = {
  plan: planName.optional(),
  amount: paymentRules.amount.optional(),
  every: every.optional(),
  paymentMethodId: uuid.nullable().optional(),
  trialEndsAt: countable.optional(),
  metadata: jsonObject.nullable().optional(),
  quotas: z.union([z.literal('keep'), quotas]).optional(),
} satisfies Record<keyof ChangeSubscriptionInput, z.ZodType>
const paying = {
  returnUrl: paymentRules.returnUrl,
} satisfies Record<keyof PaySubscriptionInput, z.ZodType>

const schemas = {
  create: z.strictObject(creation),
  cancel: z.strictObject(cancellation),
  pause: z.strictObject(pausing),
  change: z.strictObject(changing),
  pay: z.strictObject(paying),
  hold: z.strictObject({ reason: text(500) }),
}

/** What can be asked of a subscription with fields. */
export type SubscriptionWish = keyof typeof schemas

/** The inputs, checked: nulls are left out, amounts are bigints. */
export type SubscriptionInputs = { readonly [W in SubscriptionWish]: z.output<(typeof schemas)[W]> }

/** What each field may be, by its name in the library. */
export function subscriptionRules(wish: SubscriptionWish): Readonly<Record<string, z.ZodType>> {
  return schemas[wish].shape
}

/** Error: `subscription_invalid`, naming the field. */
export function readSubscriptionInput<W extends SubscriptionWish>(
  wish: W,
  input: unknown,
): SubscriptionInputs[W] {
  const schema = schemas[wish] as z.ZodType as z.ZodType<SubscriptionInputs[W]>
  return readInput(schema, input, 'subscription_invalid')
}
