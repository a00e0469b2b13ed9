import { sql, type Kysely } from 'kysely'
import { sqlStateOf } from '../database/failure.ts'
import { insertInvoice } from '../database/invoices.ts'
import { lockPayments } from '../database/payments.ts'
import { findInvoice } from '../database/read-invoices.ts'
import { findPeriod } from '../database/subscription-periods.ts'
import type { Tables } from '../database/tables.ts'
import { addUpTo, draftInvoice, isIssuing, sumOf } from '../invoices/draft-invoice.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { fieldError, QuittanceError } from '../kernel/errors.ts'
import { withUuid } from '../kernel/uuid.ts'
import { moneyText } from '../kernel/money.ts'
import type { Payment } from '../payments/payment.ts'
import { retryPassing } from '../queue/retry-passing.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import type { MoneyContext } from './context.ts'
import type { InvoiceInput } from './invoice-input.ts'

/**
 * Issues a document of our own for a charge, paid or not, in a transaction of its own: whoever takes
 * the next number waits for its commit. A second one for the same charge is the same document, if it
 * asks for the same. Errors: payment_not_found, invoice_invalid, invoice_exists.
 */
export async function issueInvoice(
  paymentId: string,
  input: InvoiceInput,
  context: MoneyContext,
): Promise<Invoice> {
  const { processing } = context
  const { database, random, invoiceUrl } = processing
  const wanted = { ...input, id: input.id ?? processing.newId() }
  const id = await retryPassing(
    () => database.transaction(({ db }) => issueIn(db, { paymentId, input, wanted }, context)),
    random,
  ).catch((error: unknown) => {
    // unique_violation: the id is that of another charge's, issued at the same time.
    throw sqlStateOf(error) === '23505' ? taken(wanted.id) : error
  })
  processing.wake('subscription_events')
  const invoice = await findInvoice(database.db, id, invoiceUrl)
  if (invoice === undefined) throw new Error(`invoice ${id} was not written`)
  return invoice
}

interface WantedIssue {
  readonly paymentId: string
  readonly input: InvoiceInput
  readonly wanted: InvoiceInput & { readonly id: string }
}

/** Returns the id of the document: the new one's, or that of the one which is there. */
async function issueIn(
  db: Kysely<Tables>,
  { paymentId, input, wanted }: WantedIssue,
  context: MoneyContext,
): Promise<string> {
  const payment = await lockCharge(db, paymentId)
  const period = payment.periodId === null ? undefined : await lockPeriod(db, payment.periodId)
  const known = await findKnown(db, { payment, period, id: input.id })
  if (known !== undefined) return repeated(known, input, payment)
  const { invoicing, subscriptionTime, newId } = context.processing
  if (!isIssuing(invoicing)) throw noSeller()
  if (payment.status === 'canceled') {
    throw new QuittanceError('invoice_invalid', `payment ${payment.id} is canceled`, {
      fix: 'Issue one for the payment that takes its place.',
    })
  }
  requireSum(input, payment)
  const draft = draftInvoice(payment, wanted, { invoicing, now: await subscriptionTime(db) })
  const about = await aboutOf(db, { payment, period })
  const isMarked = about.paidAt === null && about.periodId === null
  if (isMarked) await keepInvoice(db, payment.id, wanted.id)
  const origin = { newId, cause: 'operator', callId: null, queue: context.queue } as const
  await insertInvoice(db, draft, { ...about, id: wanted.id, origin })
  return wanted.id
}

async function lockCharge(db: Kysely<Tables>, id: string): Promise<Payment> {
  const payment = await withUuid(id, async (known) => (await lockPayments(db, [known])).get(known))
  if (payment?.type === 'charge') return payment
  throw new QuittanceError('payment_not_found', 'there is no payment with this id')
}

/** After the payment, as everywhere: whoever grants the period holds its subscription. */
async function lockPeriod(db: Kysely<Tables>, id: string): Promise<SubscriptionPeriod | undefined> {
  const period = await findPeriod(db, id)
  if (period === undefined) return undefined
  await sql`select id from billing.subscriptions where id = ${period.subscriptionId}::uuid
    for no key update`.execute(db)
  return findPeriod(db, id)
}

interface KnownInvoice {
  readonly id: string
  readonly issuer: Invoice['issuer']
  readonly lines: string
  readonly buyer: string | null
  readonly number_text: string | null
  /** It is of this charge, or of its period. */
  readonly is_of_payment: boolean
}

/** The document with this id, or of this charge or its period; ours first. */
async function findKnown(
  db: Kysely<Tables>,
  { payment, period, id }: ChargeOf & { readonly id: string | undefined },
): Promise<KnownInvoice | undefined> {
  const periodId = boughtNothing({ payment, period }) ? null : payment.periodId
  const isOfPayment = sql`(payment_id = ${payment.id}::uuid
    or (${periodId}::uuid is not null and period_id = ${periodId}::uuid))`
  const { rows } = await sql<KnownInvoice>`
    select id, issuer, lines, buyer, number_text, coalesce(${isOfPayment}, false) as is_of_payment
    from billing.invoices
    where id = ${id ?? null}::uuid
      or (${isOfPayment} and (status <> 'void' or period_id is not null))
    order by id = ${id ?? null}::uuid desc nulls last, issuer = 'us' desc, id limit 1`.execute(db)
  return rows[0]
}

interface ChargeOf {
  readonly payment: Payment
  readonly period: SubscriptionPeriod | undefined
}

/** Its money came once the period was given up, or paid by another: the period's document is not its. */
function boughtNothing({ payment: { id, status }, period }: ChargeOf): boolean {
  if (status !== 'paid' || period === undefined) return false
  return period.state !== 'open' && period.paidPaymentId !== id
}

/** What is left out asks for nothing; what is given must be what the document has. */
function repeated(known: KnownInvoice, input: InvoiceInput, payment: Payment): string {
  if (!known.is_of_payment) throw taken(known.id)
  if (known.issuer === 'provider') {
    const name = known.number_text ?? known.id
    throw new QuittanceError(
      'invoice_exists',
      `the provider has issued ${name} for payment ${payment.id}`,
      { fix: 'Use that one: two documents of one charge would be counted twice.' },
    )
  }
  const same =
    (input.id === undefined || input.id === known.id) &&
    (input.lines === undefined || sameJson(known.lines, input.lines)) &&
    (input.buyer === undefined || sameJson(known.buyer, input.buyer))
  if (same) return known.id
  throw new QuittanceError(
    'invoice_exists',
    `payment ${payment.id} has the document ${known.number_text ?? known.id} with other content`,
  )
}

function sameJson(stored: string | null, given: unknown): boolean {
  return stored !== null && canonical(JSON.parse(stored)) === canonical(given)
}

/** The same text whatever the order of the fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => {
    if (typeof one === 'bigint') return Number(one)
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return one
    const fields = Object.entries(one).filter(([, field]) => field !== undefined)
    return Object.fromEntries(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)))
  })
}

function requireSum({ lines }: InvoiceInput, payment: Payment): void {
  if (lines === undefined || addUpTo(lines, payment.amount)) return
  const sum = moneyText({ amount: sumOf(lines), currency: payment.currency })
  throw fieldError('invoice_invalid', 'lines', `add up to ${sum}, not to ${moneyText(payment)}`)
}

/** What the document is about: of a period that is owed, or that this payment has paid, the period. */
async function aboutOf(db: Kysely<Tables>, { payment, period }: ChargeOf) {
  const { id: paymentId, gateway, merchantAccount } = payment
  const subscriptionId = period?.subscriptionId ?? null
  const shared = { gateway, merchantAccount, subscriptionId }
  if (period?.state === 'open') {
    return { ...shared, periodId: period.id, paymentId: null, paidAt: null }
  }
  if (period?.state === 'paid' && period.paidPaymentId === paymentId) {
    return { ...shared, periodId: period.id, paymentId, paidAt: period.paidAt ?? payment.updatedAt }
  }
  const paidAt = payment.status === 'paid' ? await paidAtOf(db, payment) : null
  return { ...shared, periodId: null, paymentId, paidAt }
}

async function paidAtOf(db: Kysely<Tables>, { id, updatedAt }: Payment): Promise<Date> {
  const { rows } = await sql<{ at: Date | null }>`
    select min(at) as at from billing.payment_transitions
    where payment_id = ${id}::uuid and to_status = 'paid'`.execute(db)
  return rows[0]?.at ?? updatedAt
}

/** Whoever moves the payment to paid reads it in the same statement. */
async function keepInvoice(db: Kysely<Tables>, paymentId: string, id: string): Promise<void> {
  await sql`update billing.payments set invoice_id = ${id}::uuid
    where id = ${paymentId}::uuid`.execute(db)
}

function taken(id: string): QuittanceError {
  return new QuittanceError('invoice_exists', `the document ${id} is of another charge`, {
    fix: 'Use another id.',
  })
}

function noSeller(): QuittanceError {
  return new QuittanceError('invoice_invalid', 'no seller is set, so no document can be issued', {
    fix: 'Set invoices.seller: docs/15-invoices.md.',
  })
}
