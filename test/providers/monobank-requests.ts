import type { AskedRequest } from '../support/stand-in.ts'

type Rule = (value: unknown) => boolean

/** The fields that an object has to have, and those that it may have; it has no others. */
export interface Shape {
  readonly needed: Readonly<Record<string, Rule>>
  readonly allowed?: Readonly<Record<string, Rule>>
}

/** What is wrong with a value, as a sentence; undefined where it has the shape. */
export function faultOf(value: unknown, { needed, allowed = {} }: Shape): string | undefined {
  if (!isRecord(value)) return 'no object was sent'
  const missing = Object.keys(needed).find((name) => !(name in value))
  if (missing !== undefined) return `${missing} is missing`
  const rules = new Map(Object.entries({ ...needed, ...allowed }))
  const unknown = Object.keys(value).find((name) => !rules.has(name))
  if (unknown !== undefined) return `there is no field ${unknown}`
  const wrong = Object.keys(value).find((name) => rules.get(name)?.(value[name]) === false)
  return wrong === undefined ? undefined : `${wrong} is ${JSON.stringify(value[wrong])}`
}

/** The query of a GET or a DELETE, the JSON of a POST. */
export function inputOf({ method, target, body }: AskedRequest): unknown {
  if (method !== 'POST') return Object.fromEntries(new URL(target, 'http://bank').searchParams)
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** What is wrong with a request before its fields are looked at. */
export function envelopeFault({ method, target, headers, body }: AskedRequest): string | undefined {
  if (headers['x-token'] === undefined) return 'X-Token is missing'
  if (method !== 'POST') return body === '' ? undefined : `a ${method} has a body`
  if (target.includes('?')) return 'a POST has a query'
  const isJson = headers['content-type']?.startsWith('application/json') ?? false
  return isJson ? undefined : `the content type is ${headers['content-type']}`
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isTextUpTo = (length: number) => (value: unknown) => isText(value) && value.length <= length
const isUnits: Rule = (value) => Number.isSafeInteger(value) && Number(value) > 0
const isCurrency: Rule = (value) => value === 980 || value === 840 || value === 978
const isUrl: Rule = (value) => isText(value) && /^https?:$/.test(URL.parse(value)?.protocol ?? '')
const isPaymentId: Rule = (value) =>
  isText(value) && /^[0-9a-f]{8}(-[0-9a-f]{4,12}){4}$/.test(value)
const isSecond: Rule = (value) => isText(value) && /^\d{10}$/.test(value)
const isEmail: Rule = (value) => isText(value) && /^\S+@\S+\.\S+$/.test(value)
const oneOf =
  (...values: readonly unknown[]) =>
  (value: unknown) =>
    values.includes(value)
const has = (shape: Shape) => (value: unknown) => faultOf(value, shape) === undefined

/** Optional at the bank; without them we could not go on. */
const order = {
  amount: isUnits,
  ccy: isCurrency,
  merchantPaymInfo: has({
    needed: { reference: isPaymentId, destination: isTextUpTo(280) },
    allowed: { customerEmails: (value) => Array.isArray(value) && value.every(isEmail) },
  }),
  redirectUrl: isUrl,
  webHookUrl: isUrl,
}

const saveCardData = has({ needed: { saveCard: oneOf(true), walletId: isTextUpTo(64) } })

/** What each request may carry. https://monobank.ua/api-docs/acquiring */
export const shapes = {
  create: {
    needed: { ...order, validity: isUnits },
    allowed: { paymentType: oneOf('debit'), saveCardData },
  },
  charge: {
    needed: { ...order, cardToken: isText, initiationKind: oneOf('client', 'merchant') },
  },
  cancel: { needed: { invoiceId: isText, extRef: isPaymentId, amount: isUnits } },
  invoice: { needed: { invoiceId: isText } },
  period: { needed: { from: isSecond, to: isSecond } },
  card: { needed: { cardToken: isText } },
  nothing: { needed: {} },
} as const satisfies Record<string, Shape>

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
