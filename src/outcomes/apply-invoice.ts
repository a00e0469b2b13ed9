import { sql, type Kysely } from 'kysely'
import {
  markInvoicesPaid,
  recordProviderInvoice,
  type ProviderInvoice,
} from '../database/invoices.ts'
import { findFirstPaymentId } from '../database/subscription-references.ts'
import { findPayment } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import { localeOf } from '../invoices/draft-invoice.ts'
import { isUuid } from '../kernel/uuid.ts'
import { largestAmount, type Money } from '../kernel/money.ts'
import type { InvoiceOutcome } from '../payments/outcome.ts'
import type { Payable, Payment } from '../payments/payment.ts'
import type { IgnoredReason } from '../payments/reasons.ts'
import { accountMismatch } from '../payments/transition.ts'
import { ignoredResult, type Applied, type ApplyContext, type Entry } from './applied.ts'
import { writingOf } from './follow-periods.ts'
import type { Follower } from './follower.ts'
import { awaitingKey } from './waiting-calls.ts'

/** What a document is about, if it is ours. */
interface About {
  readonly payable: Payable
  readonly payment: Payment | undefined
  readonly subscriptionId: string | null
  /** Whether that is real money; null: not known. */
  readonly live: boolean | null
  readonly mismatch: IgnoredReason | undefined
}

/**
 * Records a document that the provider has issued for a payment or a subscription of ours, by their
 * ids that only we or the provider write. Others' are ignored, and looked at again once something of
 * ours has that id. No event is dispatched for the callback: it follows from the row.
 */
export async function applyInvoice(
  db: Kysely<Tables>,
  entry: Entry<InvoiceOutcome>,
  { payment, ...context }: ApplyContext & { readonly payment: Payment | undefined },
): Promise<Applied> {
  const { report, outcome } = entry
  const about = await find(db, entry, payment)
  if (about === undefined) {
    const awaiting = namesOf(entry)
    const mayBeOurs = awaiting.length > 0 || outcome.payment === undefined
    const reason = mayBeOurs ? 'unknown_payment' : 'invalid_reference'
    return ignoredResult({ type: 'invoice', reason, awaiting })
  }
  const { mismatch: reason } = about
  if (reason !== undefined) return ignoredResult({ type: 'invoice', reason, payment })
  const money = moneyOf(outcome, payment)
  const faulty = faultOf(outcome, money)
  if (faulty !== undefined || money === undefined) {
    const reason = 'malformed_payload'
    return ignoredResult({ type: 'invoice', reason, detail: faulty, payment })
  }
  const now = await context.subscriptionTime(db)
  const stated = statedBy(entry, { about, money, now })
  const isNews = await recordProviderInvoice(db, stated, writingOf(report, context.newId))
  const isTwice = payment !== undefined && (await hasOwnInvoice(db, payment.id))
  const result = isNews ? 'applied' : 'duplicate'
  const type = `invoice:${outcome.status}`
  return {
    kind: 'recorded',
    payment,
    review: isTwice,
    result: isTwice ? { result, type, detail: 'invoiced_twice' } : { result, type },
  }
}

async function find(
  db: Kysely<Tables>,
  { report: { gateway }, outcome }: Entry<InvoiceOutcome>,
  payment: Payment | undefined,
): Promise<About | undefined> {
  const subscription = await findSubscription(db, gateway, outcome)
  if (payment !== undefined) {
    const mismatch = accountMismatch(payment, gateway, outcome)
    const subscriptionId = mismatch === undefined ? (subscription?.id ?? null) : null
    return { payable: payment.payable, payment, subscriptionId, live: payment.live, mismatch }
  }
  if (subscription !== undefined) {
    const isOtherMode = differ(subscription.live, outcome.live)
    const mismatch = isOtherMode ? 'mode_mismatch' : undefined
    const { id: subscriptionId, payable, live } = subscription
    return { payable, payment, subscriptionId, live, mismatch }
  }
  const first = await findFirst(db, gateway, outcome)
  if (first === undefined) return undefined
  const mismatch = accountMismatch(first, gateway, outcome)
  const { payable, live } = first
  return { payable, payment, subscriptionId: null, live, mismatch }
}

function differ(ours: boolean | null, stated: boolean | undefined): boolean {
  return ours !== null && stated !== undefined && ours !== stated
}

interface KnownSubscription {
  readonly id: string
  readonly live: boolean | null
  readonly payable: Payable
}

async function findSubscription(
  db: Kysely<Tables>,
  gateway: string,
  { subscriptionReference, merchantAccount }: InvoiceOutcome,
): Promise<KnownSubscription | undefined> {
  if (subscriptionReference === undefined) return undefined
  const { rows } = await sql<{
    readonly id: string
    readonly live: boolean | null
    readonly type: string
    readonly payable_id: string
  }>`
    select id, live, payable_type as type, payable_id from billing.subscriptions
    where gateway = ${gateway} and provider_reference = ${subscriptionReference}
      and coalesce(merchant_account, '') = ${merchantAccount ?? ''}`.execute(db)
  const [row] = rows
  return row && { id: row.id, live: row.live, payable: { type: row.type, id: row.payable_id } }
}

/** A provider's subscription that has no row here, but began with a payment of ours. */
async function findFirst(
  db: Kysely<Tables>,
  gateway: string,
  { subscriptionReference, merchantAccount }: InvoiceOutcome,
): Promise<Payment | undefined> {
  if (subscriptionReference === undefined) return undefined
  const id = await findFirstPaymentId(db, { gateway, subscriptionReference, merchantAccount })
  return id === undefined ? undefined : findPayment(db, id)
}

function namesOf({ report: { gateway }, outcome }: Entry<InvoiceOutcome>): readonly string[] {
  const { payment, subscriptionReference } = outcome
  const isName = payment !== undefined && (!('id' in payment) || isUuid(payment.id))
  const names = [
    isName ? payment : undefined,
    subscriptionReference === undefined ? undefined : { subscriptionReference },
  ]
  return names.filter((name) => name !== undefined).map((name) => awaitingKey(gateway, name))
}

/** What it states, or what its payment took. */
function moneyOf({ amount, currency }: InvoiceOutcome, payment?: Payment): Money | undefined {
  if (amount !== undefined && currency !== undefined) return { amount, currency }
  return amount === undefined && currency === undefined ? payment : undefined
}

const longestReference = 500

function faultOf({ reference }: InvoiceOutcome, money: Money | undefined): string | undefined {
  if (textIn(reference, longestReference) === null) return 'reference'
  if (money === undefined || money.amount < 0n || money.amount > largestAmount) return 'amount'
  return /^[A-Z]{3}$/.test(money.currency) ? undefined : 'currency'
}

function statedBy(
  { report, outcome }: Entry<InvoiceOutcome>,
  { about, money, now }: { readonly about: About; readonly money: Money; readonly now: Date },
): ProviderInvoice {
  const { payable, payment, subscriptionId } = about
  const { status, reference, merchantAccount = null, live = about.live } = outcome
  const ended = status === 'paid' ? timeIn(outcome.paidAt) : null
  return {
    gateway: report.gateway,
    merchantAccount,
    live,
    reference,
    status,
    number: textIn(outcome.number, 200),
    url: urlIn(outcome.url),
    payable,
    paymentId: payment?.id ?? null,
    subscriptionId,
    total: money.amount,
    currency: money.currency,
    lines: linesIn(outcome),
    locale: localeOf(payment?.customer ?? null),
    issuedAt: timeIn(outcome.issuedAt) ?? ended ?? now,
    dueAt: timeIn(outcome.dueAt),
    endedAt: ended ?? now,
  }
}

/** More than anybody reads, and less than what slows a page down. */
const mostLines = 250

/** Their descriptions are free text: whoever shows them escapes them. */
function linesIn({ lines = [] }: InvoiceOutcome): ProviderInvoice['lines'] {
  const isLine = ({ quantity, amount }: (typeof lines)[number]) =>
    Number.isFinite(quantity) && amount <= largestAmount && amount >= -largestAmount
  return lines
    .filter(isLine)
    .slice(0, mostLines)
    .map(({ description, quantity, amount }) => ({
      description: description.slice(0, 500).toWellFormed(),
      quantity,
      amount,
    }))
}

/** Null for what no column can hold, and what nobody would take for a number. */
function textIn(given: string | undefined, longest: number): string | null {
  if (given === undefined || given === '' || given.length > longest) return null
  return given.isWellFormed() && !/\p{Cc}/u.test(given) ? given : null
}

/** It becomes a link: nothing but a page of the web. */
function urlIn(given: string | undefined): string | null {
  const text = textIn(given, 2000)
  return text !== null && /^https?:\/\//i.test(text) && URL.canParse(text) ? text : null
}

function timeIn(given: Date | undefined): Date | null {
  return given instanceof Date && !Number.isNaN(given.getTime()) ? given : null
}

/** One charge has two documents: a person must void one, or issue none. */
async function hasOwnInvoice(db: Kysely<Tables>, paymentId: string): Promise<boolean> {
  const { rows } = await sql`
    select id from billing.invoices
    where payment_id = ${paymentId}::uuid and issuer = 'us' and status <> 'void'`.execute(db)
  return rows.length > 0
}

/**
 * Marks documents whose payments are paid now. They are locked after payments and subscriptions, in
 * the order of their ids.
 */
export const followInvoices: Follower = async (db, { entries, invoices, ids }, { newId }) => {
  if (invoices.size === 0) return {}
  const reports = new Map(entries.map((entry) => [ids.get(entry), entry.report]))
  for (const [paymentId, invoiceId] of [...invoices].toSorted(byInvoice)) {
    const report = reports.get(paymentId)
    if (report !== undefined) await markInvoicesPaid(db, [invoiceId], writingOf(report, newId))
  }
  return {}
}

function byInvoice([, a]: readonly [string, string], [, b]: readonly [string, string]): number {
  return a < b ? -1 : 1
}
