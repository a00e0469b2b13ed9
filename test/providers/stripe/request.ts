import type { AskedRequest, StandInReply } from '../../support/stand-in.ts'

/** A request as Stripe reads it: list indexes are not significant. */
export interface StripeRequest {
  readonly method: string
  readonly path: string
  readonly query: ReadonlyMap<string, readonly string[]>
  readonly form: ReadonlyMap<string, readonly string[]>
  readonly headers: AskedRequest['headers']
}

export function readRequest({ method, target, headers, body }: AskedRequest): StripeRequest {
  const url = new URL(target, 'http://stripe.example')
  return {
    method,
    path: url.pathname,
    query: fieldsOf(url.searchParams),
    form: fieldsOf(new URLSearchParams(body)),
    headers,
  }
}

function fieldsOf(parameters: URLSearchParams): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, readonly string[]>()
  for (const [name, value] of parameters) {
    const list = name.replace(/^(expand|types|enabled_events)\[\d*\]$/, '$1[]')
    fields.set(list, [...(fields.get(list) ?? []), value])
  }
  return fields
}

/** The grammar of one field; a `?` at the end of its name: it may be missing. */
export type Rules = Readonly<Record<string, RegExp | ((text: string) => boolean)>>

/** What is wrong with the fields, as phrases. */
export function fieldFaults(
  fields: ReadonlyMap<string, readonly string[]>,
  rules: Rules,
): readonly string[] {
  const known = new Map(
    Object.entries(rules).map(([name, rule]) => [name.replace(/\?$/, ''), { name, rule }]),
  )
  const unknown = Array.from(fields.keys())
    .filter((name) => !known.has(name))
    .map((name) => `${name} is no field`)
  const wrong = Array.from(known).flatMap(([name, { name: asked, rule }]) => {
    const values = fields.get(name)
    if (values === undefined) return asked.endsWith('?') ? [] : [`${name} is missing`]
    if (values.length > 1 && !name.endsWith('[]')) return [`${name} is given twice`]
    const bad = values.find((value) => !(rule instanceof RegExp ? rule.test(value) : rule(value)))
    return bad === undefined ? [] : [`${name} is ${JSON.stringify(bad)}`]
  })
  return [...unknown, ...wrong]
}

/** A refusal as Stripe words it. https://docs.stripe.com/api/errors */
export function stripeError(
  status: number,
  error: Readonly<Record<string, unknown>>,
): StandInReply {
  return {
    status,
    headers: { 'request-id': 'req_standin' },
    body: { error: { type: 'invalid_request_error', message: 'No.', ...error } },
  }
}

export interface Listed {
  readonly id: string
  readonly created: number
  readonly body: object
}

/** A page of a list, newest first. https://docs.stripe.com/api/pagination */
export function listReply(
  items: readonly Listed[],
  query: StripeRequest['query'],
  mostPerPage = 100,
): StandInReply {
  const numberOf = (name: string) => {
    const [text] = query.get(name) ?? []
    return text === undefined ? undefined : Number(text)
  }
  const from = numberOf('created[gte]') ?? -Infinity
  const to = numberOf('created[lte]') ?? Infinity
  const fitting = items.filter(({ created }) => created >= from && created <= to)
  const [after] = query.get('starting_after') ?? []
  const start = after === undefined ? 0 : fitting.findIndex(({ id }) => id === after) + 1
  if (after !== undefined && start === 0) {
    return stripeError(400, { code: 'resource_missing', param: 'starting_after' })
  }
  const limit = Math.min(numberOf('limit') ?? 10, mostPerPage)
  const page = fitting.slice(start, start + limit)
  return {
    body: {
      object: 'list',
      data: page.map(({ body }) => body),
      has_more: fitting.length > start + page.length,
      url: '/v1/list',
    },
  }
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const wholeNumber = /^(?:0|[1-9]\d{0,11})$/
const httpUrl = (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? '')

export const listRules: Rules = {
  'limit?': /^(?:[1-9]\d?|100)$/,
  'starting_after?': /^[a-z]+_\w+$/,
  'created[gte]?': wholeNumber,
  'created[lte]?': wholeNumber,
}

const anySessionRules: Rules = {
  client_reference_id: uuid,
  'metadata[payment_id]': uuid,
  'customer?': /^cus_\w+$/,
  'customer_email?': /^\S+@\S+$/,
  'locale?': /^[a-z]{2,3}(?:-(?:[A-Z]{2}|419))?$/,
  'line_items[0][quantity]': /^1$/,
  'line_items[0][price_data][currency]': /^[a-z]{3}$/,
  'line_items[0][price_data][unit_amount]': wholeNumber,
  'line_items[0][price_data][product_data][name]': /^\S.{0,249}$/su,
  success_url: httpUrl,
  cancel_url: httpUrl,
  expires_at: wholeNumber,
}

export const sessionRules: Rules = {
  ...anySessionRules,
  mode: /^payment$/,
  'payment_intent_data[metadata][payment_id]': uuid,
  'payment_intent_data[setup_future_usage]?': /^off_session$/,
  'customer_creation?': /^always$/,
}

/** No intent can be named: the subscription has its own. */
export const recurringRules: Rules = {
  ...anySessionRules,
  mode: /^subscription$/,
  'line_items[0][price_data][recurring][interval]': /^(?:day|week|month|year)$/,
  'line_items[0][price_data][recurring][interval_count]': /^[1-9]\d{0,3}$/,
  'subscription_data[metadata][payment_id]': uuid,
  'subscription_data[billing_mode][type]': /^flexible$/,
  'subscription_data[trial_end]?': wholeNumber,
}

export const refundRules: Rules = {
  payment_intent: /^pi_\w+$/,
  amount: /^[1-9]\d{0,11}$/,
  'metadata[payment_id]': uuid,
  'metadata[refund_id]': uuid,
  'metadata[reason]?': /^.{1,500}$/su,
  'reason?': /^(?:duplicate|fraudulent|requested_by_customer)$/,
}

export const chargeRules: Rules = {
  amount: wholeNumber,
  currency: /^[a-z]{3}$/,
  customer: /^cus_\w+$/,
  payment_method: /^pm_\w+$/,
  confirm: /^true$/,
  description: /^.{1,1000}$/su,
  return_url: httpUrl,
  'metadata[payment_id]': uuid,
  'off_session?': /^true$/,
}

export const endpointRules: Rules = {
  url: httpUrl,
  'enabled_events[]': /^[a-z_]+(?:\.[a-z_]+)+$/,
}
