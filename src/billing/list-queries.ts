import { z } from 'zod'
import { paymentRules } from '../checkout/payment-input.ts'
import type { PageQuery } from '../database/page.ts'
import { eventFilters } from '../events/event-record.ts'
import { callFilters } from '../events/webhook-call.ts'
import { fieldError, QuittanceError } from '../kernel/errors.ts'
import { hasFields } from '../kernel/has-fields.ts'
import { flag, text } from '../kernel/input-rules.ts'
import type { Filter, Filters } from '../kernel/noun.ts'
import { faultOf, inputError, unknownField } from '../kernel/read-input.ts'
import { paymentMethodFilters } from '../payments/payment-method.ts'
import { paymentFilters, type Payable } from '../payments/payment.ts'
import { reviewFilters } from '../payments/review.ts'
import { invoiceFilters, invoiceFormats } from '../invoices/invoice.ts'
import { pageFields, readFields } from '../outbound/feed-query.ts'
import type { ScanQuery } from '../inspect/scan-calls.ts'
import type { FeedQuery, ReadEventsOptions } from './event-types.ts'
import type { RefusalsQuery } from './inspect-types.ts'
import type { ExportInvoicesInput } from './invoice-types.ts'
import type { DueQuery } from './subscription-types.ts'
import type { AccessOptions } from '../subscriptions/access.ts'
import { subscriptionFilters } from '../subscriptions/subscription.ts'
import type { FailedQuery } from '../upkeep/replay-failed.ts'
import { actionFilters } from '../wire/operator.ts'

/** A rule for every field: the compiler misses none. */
type RulesOf<Query> = Readonly<Record<keyof Query, z.ZodType>>

/** Whatever is given narrows the list, or is refused by what reads it. */
const unchecked = z.unknown().optional()
const words = text(1000).optional()
const moment = z.date('must be a Date').optional()
const paging = { limit: unchecked, cursor: unchecked }

const rules: Readonly<Record<Filter<unknown>['kind'], z.ZodType>> = {
  choice: unchecked,
  word: unchecked,
  gateway: unchecked,
  id: words,
  text: words,
  payable: paymentRules.payable.optional(),
  flag: flag.optional(),
  month: words,
}

function listQuery(filters: Filters) {
  const own = Object.entries(filters).map(([name, { kind }]) => [name, rules[kind]])
  return z.object({ ...paging, ...(Object.fromEntries(own) as Record<string, z.ZodType>) })
}

export const paymentsQuery = listQuery(paymentFilters)

export const paymentMethodsQuery = listQuery(paymentMethodFilters)

export const subscriptionsQuery = listQuery(subscriptionFilters)

export const invoicesQuery = listQuery(invoiceFilters)

export const exportQuery = z.object({
  month: text(20),
  format: z.enum(invoiceFormats, 'must be csv or jsonl').optional(),
  test: flag.optional(),
} satisfies RulesOf<ExportInvoicesInput>)

export const dueQuery = z.object({
  limit: unchecked,
  until: moment,
} satisfies RulesOf<DueQuery>)

export const callsQuery = listQuery(callFilters)

export const reviewsQuery = listQuery(reviewFilters)

export const actionsQuery = listQuery(actionFilters)

export const refusalsQuery = z.object({
  gateway: z.string().optional(),
} satisfies RulesOf<RefusalsQuery>)

export const runsQuery = z.object(paging satisfies RulesOf<PageQuery>)

export const eventsQuery = listQuery(eventFilters).extend({ type: unchecked })

export const readEventsQuery = z.object(readFields satisfies RulesOf<ReadEventsOptions>)
export const feedQuery = z.object(pageFields satisfies RulesOf<FeedQuery>)

export const failedQuery = z.object({
  gateway: unchecked,
  since: unchecked,
} satisfies RulesOf<FailedQuery>)

export const scanQuery = z.object({
  ...paging,
  text: unchecked,
  from: moment,
  until: moment,
} satisfies RulesOf<ScanQuery>)

/** These decide what one customer sees of another. */
const whose = ['customer', 'customerReference', 'paymentId', 'payable', 'subscriptionId']

/**
 * The query itself, if it asks for what it can. Without types a misspelt field, or the id of
 * somebody who is not signed in, would count as left out, and the answer would be of everybody: an
 * app may show it, or remove it. Error: `query_invalid`.
 */
export function checked<Query extends object>(schema: z.ZodObject, query: Query): Query {
  if (!hasFields(query)) {
    throw new QuittanceError('query_invalid', 'the query must be an object with fields')
  }
  const known = Object.keys(schema.shape)
  const unknown = Object.keys(query).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw inputError('query_invalid', unknownField(unknown, known))
  }
  // A query may have them from its class.
  const given = query as Readonly<Record<string, unknown>>
  const empty = whose.find((name) => name in given && given[name] === undefined)
  if (empty !== undefined) {
    const fault = 'is undefined; to list those of everybody, leave it out'
    throw fieldError('query_invalid', empty, fault)
  }
  const { error } = schema.safeParse(query)
  if (error === undefined) return query
  throw inputError('query_invalid', faultOf(error))
}

const accessOptions = z.object({ test: flag.optional() } satisfies RulesOf<AccessOptions>)

/**
 * Whose access is asked about. Error: `query_invalid`: the id of somebody who is not signed in must
 * not be read as anybody's.
 */
export function readAccess(payable: Payable, options: AccessOptions) {
  const { test } = checked(accessOptions, options)
  return { ...checked(z.object({ payable: paymentRules.payable }), { payable }), test }
}
