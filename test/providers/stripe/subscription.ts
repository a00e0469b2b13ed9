import { customerId } from '../../../src/gateways/stripe/samples/payment-method.ts'
import type { SampleInput } from '../../../src/gateways/stripe/samples/event.ts'
import { sampleIntent } from '../../../src/gateways/stripe/samples/intent.ts'
import { sampleInvoice, type InvoiceState } from '../../../src/gateways/stripe/samples/invoice.ts'
import { sampleSubscription } from '../../../src/gateways/stripe/samples/subscription.ts'
import type { Interval } from '../../../src/subscriptions/subscription.ts'

type Changing<T> = { -readonly [Key in keyof T]: T[Key] }

/** A subscription as Stripe keeps it; times in Unix seconds. */
export interface Managed {
  readonly id: string
  readonly input: SampleInput
  every: Interval
  /** Of each period. */
  amount: bigint
  readonly createdAt: number
  readonly trialEndsAt: number | null
  status:
    | 'trialing'
    | 'active'
    | 'past_due'
    | 'unpaid'
    | 'paused'
    | 'canceled'
    | 'incomplete'
    | 'incomplete_expired'
  /** Its periods are counted from here; the number of the one that it is in. */
  anchorAt: number
  number: number
  period: { readonly start: number; readonly end: number }
  cancelAt: number | null
  canceledAt: number | null
  endedAt: number | null
  paused: { readonly reason: string; readonly at: number } | null
  /** The oldest first. */
  readonly invoices: Made[]
}

/**
 * What an invoice lists:
 * - `period`: what the period costs;
 * - `mixed`: besides, an item that begins then and ends later;
 * - `prorations`: ten prorations, the rest on the next page.
 */
export type Lines = 'period' | 'mixed' | 'prorations'

/** An invoice, and the intent by which it is paid. */
export interface Made extends Changing<InvoiceState> {
  readonly lines: Lines
  readonly intentId: string
  intent: 'requires_payment_method' | 'requires_action' | 'processing' | 'succeeded'
  declineCode: string | undefined
}

export function subscriptionOf(managed: Managed): object {
  const { input, every, invoices } = managed
  return sampleSubscription(input, {
    ...managed,
    interval: every.unit,
    intervalCount: every.count,
    latestInvoice: invoices.at(-1)?.id ?? null,
  })
}

export function invoiceOf({ input }: Pick<Managed, 'input'>, made: Made): object {
  const invoice = sampleInvoice(input, made) as {
    readonly lines: { readonly data: readonly [Line] }
  }
  const [line] = invoice.lines.data
  const { start, end } = line.period
  const later = { ...line, id: `${line.id}1`, period: { start, end: end + 86_400 } }
  const data = {
    period: [line],
    mixed: [line, later],
    prorations: Array.from({ length: 10 }, (_, at) => prorationOf(line, at)),
  }[made.lines]
  return { ...invoice, lines: { ...invoice.lines, data, has_more: made.lines === 'prorations' } }
}

interface Line {
  readonly id: string
  readonly period: { readonly start: number; readonly end: number }
  readonly parent: { readonly subscription_item_details: object }
}

function prorationOf(line: Line, at: number): Line {
  const details = { ...line.parent.subscription_item_details, proration: true }
  return {
    ...line,
    id: `${line.id}${at}`,
    parent: { ...line.parent, subscription_item_details: details },
  }
}

/** Without metadata of ours: Stripe makes it for the invoice. */
export function invoiceIntentOf(
  { input }: Pick<Managed, 'input'>,
  made: Made,
): Readonly<Record<string, unknown>> {
  const of = { ...input, amount: made.amount, intentId: made.intentId }
  const code = made.declineCode
  return {
    ...sampleIntent(of, made.intent === 'requires_action' ? 'canceled' : made.intent),
    status: made.intent,
    canceled_at: null,
    cancellation_reason: null,
    customer: customerId(input),
    last_payment_error:
      code === undefined ? null : { type: 'card_error', code: 'card_declined', decline_code: code },
    metadata: {},
  }
}

export function invoicePaymentOf(made: Made): object {
  return {
    id: `inpay_${made.id.slice('in_'.length)}`,
    object: 'invoice_payment',
    amount_paid: made.status === 'paid' ? Number(made.amount) : null,
    amount_requested: Number(made.amount),
    created: made.createdAt,
    currency: 'usd',
    invoice: made.id,
    is_default: true,
    livemode: false,
    payment: { type: 'payment_intent', payment_intent: made.intentId },
    status: invoicePaymentStatus(made),
  }
}

function invoicePaymentStatus({ status }: Made): 'paid' | 'open' | 'canceled' {
  if (status === 'paid') return 'paid'
  return status === 'void' ? 'canceled' : 'open'
}
