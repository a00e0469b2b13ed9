import { z } from 'zod'
import { moneyText } from '../kernel/money.ts'
import * as field from '../kernel/noun.ts'
import { derived, inWords, orNull, viewOf, type Noun, type Values } from '../kernel/noun.ts'
import { withJson } from '../kernel/with-json.ts'
import type { Payment } from '../payments/payment.ts'
import { hasAccess } from '../subscriptions/access.ts'
import { intervalText } from '../subscriptions/interval.ts'
import {
  intervalFields,
  subscriptionFields,
  subscriptionFilters,
  termsFields,
  type Subscription,
  type Terms,
} from '../subscriptions/subscription.ts'
import { schemaOf } from './noun.ts'
import { paymentSchema, paymentView } from './payment.ts'

/** Without what only the decisions about it need. */
type Shown = Omit<Subscription, 'anchorAt' | 'anchorNumber' | 'eventNumber'>

export const standingFields = {
  /** Whether it gives access now: `hasAccess` at the time at which it was read. */
  access: field.flag(),
  /**
   * Whether it goes on by itself: its saved card can be charged, as far as we know, or none is needed,
   * because it costs nothing or the provider charges.
   */
  renewable: field.flag(),
}

/**
 * A subscription as it stands.
 * @see {@link SubscriptionJson}, which it is in JSON and as a prop of a React client component.
 */
export interface ListedSubscription extends Shown, Values<typeof standingFields> {
  toJSON(): SubscriptionJson
}

/** The length of a period. */
export const intervalSchema = schemaOf(intervalFields)
const every = intervalSchema

/** What a subscription costs, and how often. */
export const termsSchema = schemaOf(termsFields).extend({ every })

const fields = { ...subscriptionFields, ...standingFields }
export const subscriptionSchema = schemaOf(fields).extend({
  every,
  next_terms: termsSchema.nullable(),
})

/** The same in JSON. */
export type SubscriptionJson = z.output<typeof subscriptionSchema>

export const subscriptionView: (subscription: ListedSubscription) => SubscriptionJson =
  viewOf(fields)

const { id, status, access, ...otherFields } = fields

export const subscriptionNoun = {
  plural: 'subscriptions',
  facts: {
    id,
    status,
    access,
    terms: inWords(termsText),
    ...otherFields,
    nextTerms: inWords(
      ({ nextTerms }: ListedSubscription) =>
        nextTerms && `${termsText(nextTerms)}, from period ${nextTerms.fromNumber} on`,
      { label: 'then' },
    ),
    paymentMethodId: inWords(chargedText, { label: 'card' }),
    /** Of one that has ended, when it was to end says nothing. */
    cancelAt: derived(
      orNull(field.time({ label: 'ends' })),
      ({ cancelAt, endedAt }: ListedSubscription) =>
        endedAt === null && cancelAt !== null ? cancelAt.toISOString() : null,
    ),
    card: inWords(cardText),
  },
  filters: subscriptionFilters,
  columns: ['id', 'status', 'access', 'card', 'terms', 'paidUntil', 'gateway'],
  view: subscriptionView,
} as const satisfies Noun<ListedSubscription>

/** `199.00 UAH every month (plan pro)`. */
export function termsText(terms: Terms): string {
  const plan = terms.plan === null ? '' : ` (plan ${terms.plan})`
  return `${moneyText(terms)} every ${intervalText(terms.every)}${plan}`
}

/** The card that is charged; null: the provider has another means. */
function chargedText(subscription: ListedSubscription): string | null {
  const { managedBy, paymentMethodId } = subscription
  if (managedBy === 'provider') return null
  const remark = cardText(subscription) === 'gone' ? ', which cannot be charged' : ''
  return `${paymentMethodId ?? 'none'}${remark}`
}

/** `gone`: it was removed, or cannot be charged for another reason; `theirs`: the provider's. */
function cardText({ managedBy, paymentMethodId, renewable }: ListedSubscription): string {
  if (managedBy === 'provider') return 'theirs'
  if (paymentMethodId === null) return 'none'
  return renewable ? 'ok' : 'gone'
}

/** A subscription as it is shown at that time. */
export function listedSubscriptionOf(
  subscription: Subscription,
  { renewable, now }: { readonly renewable: boolean; readonly now: Date },
): ListedSubscription {
  const { anchorAt: _at, anchorNumber: _number, eventNumber: _last, ...shown } = subscription
  const givesAccess = hasAccess({ ...subscription, renewable }, now)
  return withJson({ ...shown, access: givesAccess, renewable }, subscriptionView)
}

/** A new subscription, and what was made to pay its first period. */
export interface CreatedSubscription {
  readonly subscription: ListedSubscription
  /**
   * The payment of the first period: `checkoutUrl` is where the payer pays, where no saved card was
   * charged. Null: nothing is to be paid yet.
   */
  readonly payment: Payment | null
}

export const createdSubscriptionSchema = z.strictObject({
  subscription: subscriptionSchema,
  payment: paymentSchema.nullable(),
})

export function createdSubscriptionView({
  subscription,
  payment,
}: CreatedSubscription): z.output<typeof createdSubscriptionSchema> {
  return {
    subscription: subscriptionView(subscription),
    payment: payment && paymentView(payment),
  }
}
