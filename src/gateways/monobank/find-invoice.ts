import { days, minutes, seconds } from '../../kernel/duration.ts'
import type { Payment } from '../../payments/payment.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../body/json.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { PollRequest } from '../operations.ts'
import { invalidReply, type MonobankApi } from './api.ts'
import { invoiceIdOf, readInvoiceBody, type Invoice } from './payload.ts'

const statusPath = 'api/merchant/invoice/status'
const statementPath = 'api/merchant/statement'

/**
 * What the bank says of a payment's invoice now; undefined if it has none with this id. Error:
 * `provider_reply_invalid` if the reply is about another invoice.
 */
export async function askInvoice(
  api: MonobankApi,
  invoiceId: string,
  payment: Payment,
): Promise<Invoice | undefined> {
  const reply = await api.get(statusPath, { invoiceId })
  if (reply === undefined) return undefined
  const invoice = invoiceIn(reply, { path: statusPath, payment })
  if (invoice.id !== invoiceId) throw invalidReply(statusPath, 'with another invoice')
  return invoice
}

/** An invoice as a reply states it: of this payment, unless it names none. */
export function invoiceIn(
  reply: JsonValue,
  { path, payment }: { readonly path: string; readonly payment: Payment },
): Invoice {
  const read = readInvoiceBody(reply)
  if (!read.ok) throw invalidReply(path, `without a usable ${read.outcome.detail}`)
  const reference = read.invoice.body.get('reference') ?? payment.id
  if (reference !== payment.id) throw invalidReply(path, 'with an invoice of another payment')
  return read.invoice
}

/** Clocks differ, and the bank uses its own to date a payment. */
const slack = minutes(10)
/** A payment that was handed over that long ago adds nothing more to the statement. */
const longestSearch = days(31)

/**
 * Looks by our payment's id for an invoice when the request to make it was never answered. The
 * statement lists every attempt to pay, including those that failed or are still going on, but no
 * invoice without an attempt. https://monobank.ua/api-docs/acquiring: GET /api/merchant/statement
 */
export async function findInvoice(
  api: MonobankApi,
  { payment, handedAt }: PollRequest,
  { now }: OperationContext,
): Promise<string | undefined> {
  const latest = Math.min(now.getTime(), handedAt.getTime() + longestSearch)
  const reply = await api.get(statementPath, {
    from: secondsOf(handedAt.getTime() - slack),
    to: secondsOf(latest + slack),
  })
  // Unlike an invoice, the statement always exists; an empty one may come without its list.
  if (reply === undefined) throw invalidReply(statementPath, 'with 404')
  if (!isJsonObject(reply)) throw invalidReply(statementPath, 'without an object')
  const list = reply.get('list') ?? []
  if (!Array.isArray(list)) throw invalidReply(statementPath, 'without a list')
  const entry = list.filter((one) => isJsonObject(one)).find(isOf(payment))
  if (entry === undefined) return undefined
  const invoiceId = invoiceIdOf(entry)
  if (invoiceId === undefined) throw invalidReply(statementPath, 'without a usable invoiceId')
  return invoiceId
}

function isOf({ id }: Payment) {
  return (entry: JsonObject) => entry.get('reference') === id
}

/** By then the statement has every charge, however late it is written. */
const statementDelay = days(1)

/**
 * Whether a payment of which the bank has said nothing may still turn up. If the request for an
 * invoice was not answered, its page was never shown to a payer, so it cannot be paid. A saved card
 * needs no page: its charge may merely not be listed yet.
 */
export function mayTurnUp({ payment, handedAt }: PollRequest, { now }: OperationContext): boolean {
  const age = now.getTime() - handedAt.getTime()
  return payment.paymentMethodId !== null && age < statementDelay
}

function secondsOf(milliseconds: number): string {
  return String(Math.floor(milliseconds / seconds(1)))
}
