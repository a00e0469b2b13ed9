import type { Money } from '../kernel/money.ts'
import type { Payable } from '../payments/payment.ts'
import type { InvoiceBuyer, InvoiceLine, InvoiceSeller, InvoicePolicy } from './invoice.ts'
import { seriesOf } from './number.ts'

/** What is charged for, as far as a document is concerned. */
export interface Charged extends Money {
  readonly description: string | null
  readonly payable: Payable
  readonly customer: Readonly<Record<string, unknown>> | null
  readonly live: boolean | null
}

/** What a caller wants on a document, checked; what is left out follows from the charge. */
export interface WantedInvoice {
  readonly lines?: readonly InvoiceLine[] | undefined
  readonly buyer?: InvoiceBuyer | undefined
}

/** A document of our own that has neither number nor date yet. */
export interface DraftInvoice {
  readonly series: string
  readonly live: boolean | null
  readonly seller: InvoiceSeller
  readonly buyer: InvoiceBuyer | null
  readonly locale: string | null
  readonly timeZone: string
  readonly lines: readonly InvoiceLine[]
  readonly total: bigint
  readonly currency: string
  readonly payable: Payable
  /** The earliest date that it can get. */
  readonly draftedAt: Date
  readonly dueDays: number
}

/** Settings by which documents are issued: there is a seller. */
export type IssuingSettings = InvoicePolicy & { readonly seller: InvoiceSeller }

export function isIssuing(invoicing: InvoicePolicy | undefined): invoicing is IssuingSettings {
  return invoicing !== undefined && invoicing.seller !== null
}

/** A document as it is issued now: its content is copied, and no later change of a setting shows. */
export function draftInvoice(
  charged: Charged,
  wanted: WantedInvoice,
  issuing: { readonly invoicing: IssuingSettings; readonly now: Date },
): DraftInvoice {
  const { invoicing, now } = issuing
  const { timeZone } = invoicing
  const { live } = charged
  return {
    series: seriesOf(invoicing.series, { at: now, timeZone, live }),
    live,
    seller: invoicing.seller,
    buyer: wanted.buyer ?? buyerOf(charged.customer),
    locale: localeOf(charged.customer),
    timeZone,
    lines: wanted.lines ?? [lineOf(charged)],
    total: charged.amount,
    currency: charged.currency,
    payable: charged.payable,
    draftedAt: now,
    dueDays: invoicing.dueDays,
  }
}

/** Whether the lines are worth what is charged. */
export function addUpTo(lines: readonly InvoiceLine[], total: bigint): boolean {
  return sumOf(lines) === total
}

export function sumOf(lines: readonly InvoiceLine[]): bigint {
  return lines.reduce((sum, { amount }) => sum + amount, 0n)
}

/** Without a description the merchant's own object says what it is: `order 42`. */
function lineOf({ description, payable, amount }: Charged): InvoiceLine {
  return { description: description ?? `${payable.type} ${payable.id}`, quantity: 1, amount }
}

const longestText = 300
const longestLocale = 64

/** The language of a customer, as far as it is said. */
export function localeOf(customer: Charged['customer']): string | null {
  const locale = customer?.['locale']
  return typeof locale === 'string' && /^[\w-]+$/.test(locale) && locale.length <= longestLocale
    ? locale
    : null
}

/**
 * Who buys, as far as the customer of a payment says. It is any object of the merchant's: what is
 * not a short text is passed over.
 */
export function buyerOf(customer: Charged['customer']): InvoiceBuyer | null {
  if (customer === null) return null
  const text = (...names: readonly string[]) =>
    names.map((name) => customer[name]).find((value) => isShownText(value))
  const named: InvoiceBuyer = {
    name: text('name', 'company') ?? fullNameOf(customer),
    address: addressOf(customer['address']),
    taxId: text('tax_id', 'taxId', 'vat_id', 'vatId'),
    registrationNumber: text('registration_number', 'registrationNumber'),
    email: text('email'),
    phone: text('phone'),
  }
  const said = Object.entries(named).filter(([, value]) => value !== undefined)
  return said.length === 0 ? null : Object.fromEntries(said)
}

function fullNameOf(customer: NonNullable<Charged['customer']>): string | undefined {
  const names = [customer['first_name'], customer['last_name']].filter((name) => isShownText(name))
  const whole = names.join(' ')
  return isShownText(whole) ? whole : undefined
}

const mostAddressLines = 8

/** A text or a list; where a text breaks, a line ends. */
function addressOf(value: unknown): readonly string[] | undefined {
  const given: readonly unknown[] = typeof value === 'string' ? [value] : asList(value)
  const lines = given
    .flatMap((line) => (typeof line === 'string' ? line.split(/[\r\n]+/) : []))
    .map((line) => line.trim())
    .filter((line) => isShownText(line))
    .slice(0, mostAddressLines)
  return lines.length === 0 ? undefined : lines
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isShownText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= longestText
}
