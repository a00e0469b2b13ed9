import type { Payable } from '../payments/payment.ts'

export const invoiceIssuers = ['us', 'provider'] as const
/** Who has issued a document: we, numbered by ourselves, or the provider, whose document we show. */
export type InvoiceIssuer = (typeof invoiceIssuers)[number]

export const invoiceStatuses = ['issued', 'paid', 'void'] as const
/** `void`: nobody owes it any more; it keeps its number. A paid document stays paid. */
export type InvoiceStatus = (typeof invoiceStatuses)[number]

export const invoiceFormats = ['csv', 'jsonl'] as const
/** How documents are written one after the other. */
export type InvoiceFormat = (typeof invoiceFormats)[number]

/** What is charged for. */
export interface InvoiceLine {
  readonly description: string
  readonly quantity: number
  /** Minor units, of the whole line; below zero for a discount. */
  readonly amount: bigint
}

/** Somebody on a document; what is unknown is left out. */
export interface InvoiceParty {
  readonly name?: string | undefined
  /** Its lines. */
  readonly address?: readonly string[] | undefined
  /** VAT number, ІПН and the like. */
  readonly taxId?: string | undefined
  /** In a register of companies: ЄДРПОУ and the like. */
  readonly registrationNumber?: string | undefined
  readonly email?: string | undefined
  readonly phone?: string | undefined
}

/** Who sells. */
export interface InvoiceSeller extends InvoiceParty {
  readonly name: string
  /** Where to pay: its lines. */
  readonly bankDetails?: readonly string[] | undefined
  /** A sentence at the foot. */
  readonly note?: string | undefined
}

/** Who buys. */
export type InvoiceBuyer = InvoiceParty

/** The time that a document of a subscription is for. */
export interface InvoicePeriod {
  readonly startsAt: Date
  /** Exclusive. */
  readonly endsAt: Date
}

/** A document as it stands. Seller, buyer, lines and total are those of the time of its issue. */
export interface Invoice {
  readonly id: string
  readonly issuer: InvoiceIssuer
  readonly status: InvoiceStatus
  /** As it is printed: `INV-2026-0042`; null: its provider has not said it. */
  readonly number: string | null
  /** The series that its number counts in; null: the provider's. */
  readonly series: string | null
  /** Whether it is about real money; null: its provider does not say. */
  readonly live: boolean | null
  /** Minor units. */
  readonly total: bigint
  /** What went back of its payment so far, by refunds and lost disputes, in minor units. */
  readonly credited: bigint
  /** ISO 4217 code. */
  readonly currency: string
  readonly lines: readonly InvoiceLine[]
  /** Null: on the provider's document alone. */
  readonly seller: InvoiceSeller | null
  readonly buyer: InvoiceBuyer | null
  /** The language of the customer, as the payment or the subscription said: `uk`, `en-GB`. */
  readonly locale: string | null
  /** IANA name of the time zone in whose days its dates are shown. */
  readonly timeZone: string
  /** The merchant's own object that is paid for. */
  readonly payable: Payable
  readonly gateway: string
  /** The merchant's account at the provider, as on payments. */
  readonly merchantAccount: string | null
  readonly subscriptionId: string | null
  readonly periodId: string | null
  /** The payment that it is about; of a period, once that is paid. */
  readonly paymentId: string | null
  /** The time that it is for, if it is of a period of a subscription. */
  readonly period: InvoicePeriod | null
  /** The provider's id of it. */
  readonly providerReference: string | null
  /** Where it can be read: our page, or the provider's document. */
  readonly url: string | null
  readonly issuedAt: Date
  readonly dueAt: Date | null
  readonly paidAt: Date | null
  readonly voidedAt: Date | null
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
