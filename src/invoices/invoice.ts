import * as field from '../kernel/noun.ts'
import { byChoice, byFlag, byId, byMonth, byPayable, byText } from '../kernel/noun.ts'
import { optional, orNull, type Values } from '../kernel/noun.ts'

export const invoiceIssuers = ['us', 'provider'] as const
/** Who has issued a document: we, numbered by ourselves, or the provider, whose document we show. */
export type InvoiceIssuer = (typeof invoiceIssuers)[number]

export const invoiceStatuses = ['issued', 'paid', 'void'] as const
/** `void`: the buyer owes nothing, and the number stays used. A paid document stays paid. */
export type InvoiceStatus = (typeof invoiceStatuses)[number]

export const invoiceFormats = ['csv', 'jsonl'] as const
/** How documents are written one after the other. */
export type InvoiceFormat = (typeof invoiceFormats)[number]

export const invoiceLineFields = {
  description: field.text(),
  quantity: field.number(),
  /** Minor units, of the whole line; below zero for a discount. */
  amount: field.minorUnits(),
}
/** What is charged for. */
export interface InvoiceLine extends Values<typeof invoiceLineFields> {}

const partyFields = {
  name: optional(field.text()),
  /** Its lines. */
  address: optional(field.listOf(field.text())),
  /** VAT number, ІПН and the like. */
  taxId: optional(field.text()),
  /** In a register of companies: ЄДРПОУ and the like. */
  registrationNumber: optional(field.text()),
  email: optional(field.text()),
  phone: optional(field.text()),
}
/** A seller or buyer on a document. An unknown field is left out. */
export interface InvoiceParty extends Partial<Values<typeof partyFields>> {}

const sellerFields = {
  ...partyFields,
  name: field.text(),
  /** Where to pay: its lines. */
  bankDetails: optional(field.listOf(field.text())),
  /** A sentence at the foot. */
  note: optional(field.text()),
}
/** Who sells. */
export interface InvoiceSeller extends Partial<Values<typeof sellerFields>> {
  readonly name: string
}

/** Who buys. */
export type InvoiceBuyer = InvoiceParty

const periodFields = {
  startsAt: field.time(),
  /** Exclusive. */
  endsAt: field.time(),
}
/** The time that a document of a subscription is for. */
export interface InvoicePeriod extends Values<typeof periodFields> {}

const nameOf = { toText: ({ name, email }: InvoiceParty) => name ?? email ?? null }
const spanText = ({ startsAt, endsAt }: InvoicePeriod) =>
  `${startsAt.toISOString()} to ${endsAt.toISOString()}`

export const invoiceFields = {
  id: field.id('invoice', { label: 'document' }),
  issuer: field.choice(invoiceIssuers),
  status: field.choice(invoiceStatuses),
  /** As it is printed: `INV-2026-0042`; null: its provider has not said it. */
  number: orNull(field.text()),
  /** The series that its number counts in; null: the provider's. */
  series: orNull(field.text()),
  /** Whether it is about real money; null: its provider does not say. */
  live: field.mode(),
  /** Minor units. */
  total: field.minorUnits(),
  /** What went back of its payment so far, by refunds and lost disputes, in minor units. */
  credited: field.minorUnits(),
  /** ISO 4217 code. */
  currency: field.text(),
  lines: field.listOf(field.part(invoiceLineFields)),
  /** Null: on the provider's document alone. */
  seller: orNull(field.partial<typeof sellerFields, InvoiceSeller>(sellerFields, nameOf)),
  buyer: orNull(field.partial<typeof partyFields, InvoiceParty>(partyFields, nameOf)),
  /** The language of the customer, as the payment or the subscription said: `uk`, `en-GB`. */
  locale: orNull(field.text()),
  /** IANA name of the time zone in whose days its dates are shown. */
  timeZone: field.text(),
  /** The merchant's own object that is paid for. */
  payable: field.payable(),
  gateway: field.text({ of: 'gateway' }),
  /** The merchant's account at the provider, as on payments. */
  merchantAccount: orNull(field.text()),
  subscriptionId: orNull(field.id('subscription')),
  periodId: orNull(field.id('period', { label: 'period id' })),
  /** The payment that it is about; of a period, once that is paid. */
  paymentId: orNull(field.id('payment')),
  /** The time that it is for, if it is of a period of a subscription. */
  period: orNull(field.part(periodFields, { toText: spanText })),
  /** The provider's id of it. */
  providerReference: orNull(field.text()),
  /** Where it can be read: our page, or the provider's document. */
  url: orNull(field.text({ label: 'read at' })),
  issuedAt: field.time(),
  dueAt: orNull(field.time()),
  paidAt: orNull(field.time()),
  voidedAt: orNull(field.time()),
}

/** A document as it stands now. Its seller, buyer, lines and total stay as issued. */
export interface Invoice extends Values<typeof invoiceFields> {}

/** What narrows a list of documents. */
export const invoiceFilters = {
  payable: byPayable('only of this object, e.g. order:42'),
  subscriptionId: byId('subscription'),
  paymentId: byId('payment'),
  status: byChoice(invoiceStatuses),
  series: byText('only of this series, e.g. INV-2026', { placeholder: 'name', most: 100 }),
  /** In which they were issued, such as `2026-11`: a month of the time zone of the settings. */
  month: byMonth('only those issued then, e.g. 2026-11'),
  /** True: those of test money alone; false: without them. */
  test: byFlag('only those of test money', {
    helpNot: 'without those of test money',
    label: 'money',
  }),
}

/** How documents of our own are issued. */
export interface InvoicePolicy {
  /** Null: none are. */
  readonly seller: InvoiceSeller | null
  /** Name of the series, with `{year}` and `{month}`. */
  readonly series: string
  readonly dueDays: number
  /** In whose days the year and the month of a series are counted. */
  readonly timeZone: string
}
