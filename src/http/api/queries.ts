import { z } from 'zod'
import { attemptFilters, forwardFilters } from '../../events/endpoint.ts'
import { callFilters } from '../../events/webhook-call.ts'
import { snakeCase, type SnakeCase } from '../../kernel/field-names.ts'
import { must, oneOf, text, uuid } from '../../kernel/input-rules.ts'
import type { Filter, Filters, FilterValues } from '../../kernel/noun.ts'
import { faultOf, type InputFault } from '../../kernel/read-input.ts'
import { invoiceFilters, invoiceFormats } from '../../invoices/invoice.ts'
import { paymentMethodFilters } from '../../payments/payment-method.ts'
import { paymentFilters } from '../../payments/payment.ts'
import { reviewFilters } from '../../payments/review.ts'
import { subscriptionFilters } from '../../subscriptions/subscription.ts'

/** Input as checked, or the first thing that is wrong with it, naming the field. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | ({ readonly ok: false } & InputFault)

const limitRule = must('must be a whole number from 1 to 100')
const limit = z
  .string()
  .regex(/^(?:[1-9]\d?|100)$/, limitRule)
  .transform(Number)
  // What the document shows for what is a text here, as all of a query is.
  .meta({ shownAs: { type: 'integer', minimum: 1, maximum: 100, default: 20 } })
export const paging = { limit: limit.optional(), cursor: text(200).optional() }

const payableRule = must('must be type:id, such as order:42')
/** `order:42`: the id may contain further colons. */
const payableText = z
  .string()
  .regex(/^[^:]+:./, payableRule)
  .transform((value) => {
    const [type = '', ...id] = value.split(':')
    return { type, id: id.join(':') }
  })
  .describe('What is paid for, as `type:id`, such as `order:42`.')

/** A boolean as all of a query is: a text. */
const yesOrNo = oneOf(['true', 'false'])
  .transform((value) => value === 'true')
  .meta({ shownAs: { type: 'boolean' } })
  .optional()

const monthRule = must('must be a month such as 2026-11')
const month = z.string().regex(/^\d{4}-\d{2}$/, monthRule)

function ruleOf({ kind, values, most = 1_000 }: Filter<unknown>): z.ZodType {
  if (values !== undefined) return oneOf(values as readonly [string, ...string[]])
  const rules = {
    gateway: text(64),
    id: uuid,
    text: text(most),
    payable: payableText,
    flag: yesOrNo,
    month,
  }
  return kind === 'choice' || kind === 'word' ? text(1_000) : rules[kind]
}

type ShapeOf<F extends Filters> = typeof paging & {
  readonly [Name in keyof F & string as SnakeCase<Name>]: z.ZodType<FilterValues<F>[Name]>
}

/** The query of a list: a parameter for each filter, and for pages. */
function listQuery<F extends Filters>(filters: F): z.ZodObject<ShapeOf<F>, z.core.$strict> {
  const own = Object.entries(filters).map(([name, one]) => [
    snakeCase(name),
    ruleOf(one).optional(),
  ])
  return z.strictObject({ ...paging, ...Object.fromEntries(own) }) as never
}

export const paymentsQuery = listQuery(paymentFilters)

export const subscriptionsQuery = listQuery(subscriptionFilters)

export const invoicesQuery = listQuery(invoiceFilters)

export const exportQuery = z.strictObject({
  month,
  format: oneOf(invoiceFormats).optional(),
  test: yesOrNo,
})

export const paymentMethodsQuery = listQuery(paymentMethodFilters)

export const callsQuery = listQuery(callFilters)

export const reviewsQuery = listQuery(reviewFilters)

/** Blanks at its ends do not count. */
const searched = text(500).regex(/\S/, must('must not be blank'))

export const searchQuery = z.strictObject({ q: searched.describe('What is looked for.') })

const moment = z.iso
  .datetime({ offset: true, ...must('must be a time in ISO 8601, such as 2026-11-20T09:30:00Z') })
  .transform((value) => new Date(value))
  .optional()

export const callSearchQuery = z.strictObject({
  ...paging,
  text: searched,
  from: moment,
  until: moment,
})
export const runsQuery = z.strictObject(paging)

export const attemptsQuery = listQuery(attemptFilters)

export const forwardsQuery = listQuery(forwardFilters)

export function check<T>(schema: z.ZodType<T>, input: unknown): Checked<T> {
  const result = schema.safeParse(input)
  if (result.success) return { ok: true, value: result.data }
  return { ok: false, ...faultOf(result.error, schema) }
}

/** The name of a parameter that is given twice: either could be meant. */
export function repeatedName(search: URLSearchParams): string | undefined {
  return [...search.keys()].find((name, at, names) => names.indexOf(name) < at)?.slice(0, 80)
}
