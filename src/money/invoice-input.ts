import { z } from 'zod'
import type { InvoiceBuyer, InvoiceLine } from '../invoices/invoice.ts'
import { must, text, uuid, wholeNumber } from '../kernel/input-rules.ts'
import { largestAmount } from '../kernel/money.ts'
import { readInput } from '../kernel/read-input.ts'

/** A line of a document, as a caller gives it. */
export interface InvoiceLineInput {
  readonly description: string
  /** 1 if left out. */
  readonly quantity?: number | undefined
  /** Minor units of the whole line; below zero for a discount. */
  readonly amount: bigint | number
}

/** What a caller wants on a document; what is left out follows from the payment. */
export interface IssueInvoiceInput {
  /** A UUID chosen by the caller. */
  readonly id?: string | undefined
  /** They add up to the payment's amount; one line with all of it by default. */
  readonly lines?: readonly InvoiceLineInput[] | undefined
  /** By default what the payment's `customer` says. */
  readonly buyer?: InvoiceBuyer | undefined
}

const amountRule = must(
  `must be a whole number of minor units from -${largestAmount} to ${largestAmount}`,
)
const signedAmount = wholeNumber({ least: -largestAmount, most: largestAmount }, amountRule)

const quantityRule = must('must be a number above 0, with 3 decimals at most')
const quantity = z
  .number(quantityRule)
  .gt(0, quantityRule)
  .max(1e9, quantityRule)
  .refine((count) => Math.abs(count * 1000 - Math.round(count * 1000)) < 1e-6, quantityRule)

const line: z.ZodType<InvoiceLine, InvoiceLineInput> = z.strictObject(
  { description: text(500), quantity: quantity.default(1), amount: signedAmount },
  must('must be {description, quantity, amount}'),
)

const linesRule = must('must be a list of 1 to 250 lines')
const addressRule = must('must be a list of 1 to 8 lines')

/** What each field of a buyer may be, by its name in the library. */
export const buyerRules = {
  name: text(200).optional(),
  address: z.array(text(200), addressRule).min(1, addressRule).max(8, addressRule).optional(),
  taxId: text(64).optional(),
  registrationNumber: text(64).optional(),
  email: text(254).optional(),
  phone: text(64).optional(),
} satisfies Record<keyof InvoiceBuyer, z.ZodType>

/** What each field may be, by its name in the library. */
export const invoiceRules = {
  id: uuid.optional(),
  lines: z.array(line, linesRule).min(1, linesRule).max(250, linesRule).optional(),
  buyer: z.strictObject(buyerRules, must('must be an object such as {name, address}')).optional(),
} satisfies Record<keyof IssueInvoiceInput, z.ZodType>

const schema = z.strictObject(invoiceRules)

/** The input, checked. */
export type InvoiceInput = z.output<typeof schema>

/** Error: `invoice_invalid`, naming the field. */
export function readInvoiceInput(input: unknown): InvoiceInput {
  return readInput(schema, input, 'invoice_invalid')
}
