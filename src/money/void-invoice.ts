import { sql, type Kysely } from 'kysely'
import { voidInvoice } from '../database/invoices.ts'
import { lockPayments } from '../database/payments.ts'
import { findInvoice } from '../database/read-invoices.ts'
import { findPeriod } from '../database/subscription-periods.ts'
import type { Tables } from '../database/tables.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { readUuid } from '../kernel/uuid.ts'
import { retryPassing } from '../queue/retry-passing.ts'
import type { MoneyContext } from './context.ts'

/**
 * Voids a document that is owed: it keeps its number, and its charge may have another. One that is
 * void already stays so. Errors: invoice_not_found, invoice_not_voidable.
 */
export async function voidOwedInvoice(given: string, context: MoneyContext): Promise<Invoice> {
  const { database, random, invoiceUrl } = context.processing
  const id = readUuid(given)
  if (id === undefined) throw notFound()
  await retryPassing(() => database.transaction(({ db }) => voidIn(db, id, context)), random)
  const invoice = await findInvoice(database.db, id, invoiceUrl)
  if (invoice === undefined) throw notFound()
  return invoice
}

async function voidIn(db: Kysely<Tables>, id: string, context: MoneyContext): Promise<void> {
  const { invoiceUrl, subscriptionTime } = context.processing
  const known = await findInvoice(db, id, invoiceUrl)
  if (known === undefined) throw notFound()
  if (known.status === 'void') return
  // As everywhere: whoever pays it holds its payment, or its subscription.
  if (known.paymentId !== null) await lockPayments(db, [known.paymentId])
  await requireVoidable(db, known)
  if (await voidInvoice(db, id, await subscriptionTime(db))) return
  const current = await findInvoice(db, id, invoiceUrl)
  if (current?.status !== 'void') throw notVoidable(known, 'is paid')
}

async function requireVoidable(db: Kysely<Tables>, invoice: Invoice): Promise<void> {
  if (invoice.issuer === 'provider') throw notVoidable(invoice, "is the provider's")
  if (invoice.status === 'paid') throw notVoidable(invoice, 'is paid')
  const { periodId, subscriptionId } = invoice
  if (periodId === null) return
  await sql`select id from billing.subscriptions where id = ${subscriptionId}::uuid
    for no key update`.execute(db)
  const period = await findPeriod(db, periodId)
  if (period?.state === 'open') throw notVoidable(invoice, 'is of a period that is still owed')
  if (period?.state === 'paid') throw notVoidable(invoice, 'is of a period that is paid')
}

function notVoidable({ id, number }: Invoice, why: string): QuittanceError {
  return new QuittanceError('invoice_not_voidable', `the document ${number ?? id} ${why}`)
}

function notFound(): QuittanceError {
  return new QuittanceError('invoice_not_found', 'there is no document with this id')
}
