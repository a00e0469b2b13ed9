import { z } from 'zod'
import type { InvoiceJson, InvoiceSnapshot } from '../events/invoice-snapshot.ts'
import {
  invoiceIssuers,
  invoiceStatuses,
  type Invoice,
  type InvoiceParty,
  type InvoiceSeller,
} from '../invoices/invoice.ts'
import { amount, id, time } from './fields.ts'
import { withJson } from '../kernel/with-json.ts'

const party = {
  name: z.string().optional(),
  address: z.array(z.string()).readonly().optional(),
  tax_id: z.string().optional(),
  registration_number: z.string().optional(),
  email: z.string().optional(),
  phone: z.string().optional(),
}

export const invoiceSchema = z.strictObject({
  id,
  issuer: z.enum(invoiceIssuers),
  status: z.enum(invoiceStatuses),
  number: z.string().nullable(),
  series: z.string().nullable(),
  live: z.boolean().nullable(),
  total: amount,
  credited: amount,
  currency: z.string(),
  lines: z
    .array(z.strictObject({ description: z.string(), quantity: z.number(), amount }))
    .readonly(),
  seller: z
    .strictObject({
      ...party,
      name: z.string(),
      bank_details: z.array(z.string()).readonly().optional(),
      note: z.string().optional(),
    })
    .nullable(),
  buyer: z.strictObject(party).nullable(),
  locale: z.string().nullable(),
  time_zone: z.string(),
  payable: z.strictObject({ type: z.string(), id: z.string() }),
  gateway: z.string(),
  merchant_account: z.string().nullable(),
  subscription_id: id.nullable(),
  period_id: id.nullable(),
  payment_id: id.nullable(),
  period: z.strictObject({ starts_at: time, ends_at: time }).nullable(),
  provider_reference: z.string().nullable(),
  url: z.string().nullable(),
  issued_at: time,
  due_at: time.nullable(),
  paid_at: time.nullable(),
  voided_at: time.nullable(),
})

export function invoiceView(invoice: Invoice): z.output<typeof invoiceSchema> & InvoiceJson {
  const { period, seller } = invoice
  return {
    id: invoice.id,
    issuer: invoice.issuer,
    status: invoice.status,
    number: invoice.number,
    series: invoice.series,
    live: invoice.live,
    total: Number(invoice.total),
    credited: Number(invoice.credited),
    currency: invoice.currency,
    lines: invoice.lines.map((line) => ({
      description: line.description,
      quantity: line.quantity,
      amount: Number(line.amount),
    })),
    seller: seller && sellerView(seller),
    buyer: invoice.buyer && partyView(invoice.buyer),
    locale: invoice.locale,
    time_zone: invoice.timeZone,
    payable: { type: invoice.payable.type, id: invoice.payable.id },
    gateway: invoice.gateway,
    merchant_account: invoice.merchantAccount,
    subscription_id: invoice.subscriptionId,
    period_id: invoice.periodId,
    payment_id: invoice.paymentId,
    period: period && {
      starts_at: period.startsAt.toISOString(),
      ends_at: period.endsAt.toISOString(),
    },
    provider_reference: invoice.providerReference,
    url: invoice.url,
    issued_at: invoice.issuedAt.toISOString(),
    due_at: textOf(invoice.dueAt),
    paid_at: textOf(invoice.paidAt),
    voided_at: textOf(invoice.voidedAt),
  }
}

function partyView({ taxId, registrationNumber, ...same }: InvoiceParty) {
  return { ...same, tax_id: taxId, registration_number: registrationNumber }
}

function sellerView({ bankDetails, note, ...seller }: InvoiceSeller) {
  return { ...partyView(seller), name: seller.name, bank_details: bankDetails, note }
}

/** A document as events and lists carry it. */
export function invoiceSnapshotOf(invoice: Invoice): InvoiceSnapshot {
  return withJson({ ...invoice }, invoiceView)
}

function textOf(at: Date | null): string | null {
  return at?.toISOString() ?? null
}
