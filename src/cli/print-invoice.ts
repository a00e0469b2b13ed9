import type { Invoice, InvoiceLine } from '../invoices/invoice.ts'
import { moneyText } from '../kernel/money.ts'
import { print, printTable, shortTime, visible } from './output.ts'

/** A document as it stands, one fact per line. */
export function printInvoice(invoice: Invoice): void {
  const { total, credited, currency, payable, period } = invoice
  print(visible(`document     ${invoice.number ?? 'without a number'}`))
  print(`id           ${invoice.id}`)
  print(`status       ${invoice.status}${invoice.issuer === 'provider' ? ', of the provider' : ''}`)
  if (invoice.live === false) print('money        test, not real')
  for (const line of invoice.lines) print(visible(`line         ${lineText(line, currency)}`))
  print(`total        ${moneyText({ amount: total, currency })}`)
  if (credited > 0n) print(`credited     ${moneyText({ amount: credited, currency })}`)
  print(visible(`payable      ${payable.type}:${payable.id}`))
  const buyer = invoice.buyer?.name ?? invoice.buyer?.email
  if (buyer !== undefined) print(visible(`buyer        ${buyer}`))
  for (const [name, text] of referencesOf(invoice)) print(`${name.padEnd(12)} ${text}`)
  if (period !== null) {
    print(`period       ${period.startsAt.toISOString()} to ${period.endsAt.toISOString()}`)
  }
  if (invoice.url !== null) print(visible(`read at      ${invoice.url}`))
}

/** `2 x Ethiopia Yirgacheffe, 980.00 EUR` */
function lineText({ description, quantity, amount }: InvoiceLine, currency: string): string {
  const count = quantity === 1 ? '' : `${quantity} x `
  return `${count}${description.replaceAll(/\s+/g, ' ')}, ${moneyText({ amount, currency })}`
}

function referencesOf(invoice: Invoice): readonly (readonly [string, string])[] {
  const facts: readonly (readonly [string, string | null])[] = [
    ['payment', invoice.paymentId],
    ['subscription', invoice.subscriptionId],
    ['issued', invoice.issuedAt.toISOString()],
    ['due', invoice.dueAt?.toISOString() ?? null],
    ['paid', invoice.paidAt?.toISOString() ?? null],
    ['voided', invoice.voidedAt?.toISOString() ?? null],
  ]
  return facts.filter((fact): fact is readonly [string, string] => fact[1] !== null)
}

export function printInvoices(invoices: readonly Invoice[]): void {
  if (invoices.length === 0) {
    print('No documents.')
    return
  }
  const rows = invoices.map((one) => [
    one.id,
    one.number ?? '',
    one.status,
    moneyText({ amount: one.total, currency: one.currency }),
    one.buyer?.name ?? one.buyer?.email ?? '',
    shortTime(one.issuedAt),
  ])
  printTable({ headings: ['id', 'number', 'status', 'total', 'buyer', 'issued (UTC)'], rows })
}
