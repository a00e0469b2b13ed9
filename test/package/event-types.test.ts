import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { expectTypeOf } from 'expect-type'
import {
  eventTypes,
  type BrowserEventType,
  type Dispute,
  type EventOf,
  type EventPayloads,
  type EventType,
  type InvoiceSnapshot,
  type Payment,
  type PaymentMethod,
  type SubscriptionSnapshot,
  type SubscriptionStatus,
} from 'quittance'
import { root } from '../tidy/source-files.ts'

type Period = EventOf<'SubscriptionRenewed'>['period']

interface AboutPayment {
  readonly payment: Payment
}
interface AboutSubscription {
  readonly subscription: SubscriptionSnapshot
}
interface Notice extends AboutSubscription {
  readonly renews: boolean
  readonly notice: number
}
interface AboutQuota extends AboutSubscription {
  readonly quota: string
}

/** What listeners of the specification's events and of our own are written against. */
interface Promised {
  PaymentSucceeded: AboutPayment
  PaymentFailed: AboutPayment
  PaymentCanceled: AboutPayment
  PaymentRefunded: AboutPayment
  PaymentMethodAttached: { readonly paymentMethod: PaymentMethod }
  PaymentMethodDetached: { readonly paymentMethod: PaymentMethod }
  SubscriptionCreated: AboutSubscription
  SubscriptionRenewed: {
    readonly subscription: SubscriptionSnapshot
    readonly period: Period
    readonly payment: Payment | null
    readonly previousStatus: SubscriptionStatus
    readonly skippedPeriods: number
  }
  SubscriptionPaymentFailed: {
    readonly subscription: SubscriptionSnapshot
    readonly period: Period
    readonly payment: Payment | null
    readonly attempt: number
    readonly nextAttemptAt: Date | null
    readonly needs: 'nothing' | 'new_card' | 'confirmation'
    readonly payUrl: string | null
  }
  SubscriptionAccessSuspended: {
    readonly subscription: SubscriptionSnapshot
    readonly period: Period
  }
  SubscriptionCancelled: {
    readonly subscription: SubscriptionSnapshot
    readonly previousStatus: SubscriptionStatus
    readonly reason: 'requested' | 'payment_failed' | 'trial_ended' | 'incomplete' | 'provider'
  }
  SubscriptionPaused: {
    readonly subscription: SubscriptionSnapshot
    readonly reason: 'requested' | 'payment_failed'
    readonly resumesAt: Date | null
  }
  SubscriptionResumed: AboutSubscription
  TrialWillEnd: Notice & { readonly endsAt: Date }
  TrialEnded: { readonly subscription: SubscriptionSnapshot; readonly converts: boolean }
  SubscriptionPeriodEnding: Notice & { readonly period: Period }
  SubscriptionQuotaReset: AboutQuota & {
    readonly limit: bigint | null
    readonly used: bigint
    readonly windowStartsAt: Date
    readonly windowEndsAt: Date | null
  }
  UsageLimitReached: AboutQuota & {
    readonly limit: bigint
    readonly used: bigint
    readonly percent: number
  }
  InvoiceIssued: { readonly invoice: InvoiceSnapshot }
  InvoicePaid: { readonly invoice: InvoiceSnapshot; readonly payment: Payment | null }
  CheckoutReturned: AboutPayment
  PaymentLinkOpened: AboutPayment
  PaymentDisputed: { readonly payment: Payment; readonly dispute: Dispute }
  EndpointDisabled: {
    readonly endpoint: { readonly id: string; readonly name: string; readonly url: string }
    readonly reason: 'operator' | 'gone' | 'failing'
    readonly disabledAt: Date
  }
}

type Flat<All> = { [Type in keyof All]: { [Field in keyof All[Type]]: All[Type][Field] } }

test('what each event carries has the types that it is promised with, to be read alone', () => {
  expectTypeOf<Flat<Pick<EventPayloads, keyof Promised>>>().toEqualTypeOf<Flat<Promised>>()
  expectTypeOf<EventPayloads>().toExtend<Promised>()
  expectTypeOf<Promised>().toExtend<Pick<EventPayloads, keyof Promised>>()
  const rename = (event: EventOf<'PaymentSucceeded'>, payment: Payment) => {
    // @ts-expect-error -- it is to be read alone
    event.payment = payment
  }
  assert.equal(typeof rename, 'function')
})

test('an event is told apart by its type', () => {
  expectTypeOf<EventType>().toEqualTypeOf<keyof EventPayloads>()
  expectTypeOf<(typeof eventTypes)[number]>().toEqualTypeOf<EventType>()
  expectTypeOf<BrowserEventType>().toEqualTypeOf<'CheckoutReturned' | 'PaymentLinkOpened'>()
  const paid = { type: 'PaymentSucceeded' } as EventOf<EventType>
  if (paid.type === 'PaymentSucceeded') expectTypeOf(paid.payment).toEqualTypeOf<Payment>()
  assert.ok((eventTypes as readonly string[]).includes(paid.type))
})

/** Of fields: they are indented. */
function commentsIn(path: string): readonly string[] {
  const text = readFileSync(join(root, path), 'utf8')
  return Array.from(text.matchAll(/^ +\/\*\* (.*) \*\/$/gm), ([, comment = '']) => comment)
}

test('editors show what the rows say of events and of their fields', () => {
  for (const rows of ['events/catalogue', 'subscriptions/events']) {
    const shown = new Set(commentsIn(`dist/${rows}.d.ts`))
    const lost = commentsIn(`src/${rows}.ts`).filter((comment) => !shown.has(comment))
    assert.deepEqual(lost, [])
  }
})
