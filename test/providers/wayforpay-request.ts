import { isIP } from 'node:net'
import { Wayforpay } from 'wayforpay-ts-integration'
import {
  isJsonObject,
  numberTextOf,
  textOf,
  type JsonObject,
  type JsonValue,
} from '../../src/gateways/body/json.ts'
import { parseJson } from '../../src/gateways/body/parse-json.ts'
import type { AskedRequest } from '../support/stand-in.ts'
import type { Asking } from './provider-stand-in.ts'

export const shop = { account: 'stand_in_shop', secretKey: 'secret_of_the_stand_in_shop' } as const
const sdk = new Wayforpay({ merchantLogin: shop.account, merchantSecret: shop.secretKey })

/** The signature that a third party's package makes of these texts. */
export function signatureOf(texts: readonly string[]): string {
  return sdk['createSignature']([...texts])
}

type Grammar = (value: JsonValue) => boolean

const string =
  (grammar: RegExp): Grammar =>
  (value) =>
    typeof value === 'string' && grammar.test(value)
const number =
  (grammar: RegExp): Grammar =>
  (value) =>
    grammar.test(numberTextOf(value) ?? '')
const oneOf =
  (grammar: Grammar): Grammar =>
  (value) =>
    Array.isArray(value) && value.length === 1 && value.every(grammar)

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** As PHP writes it, or the signature does not fit: no zeros at the end, no exponent. */
const amount = number(/^(?:0|[1-9]\d{0,12})(?:\.\d?[1-9])?$/)
const currency = string(/^(?:UAH|USD|EUR)$/)
const someText = string(/\S/)
const callbackUrl = string(/^https?:\/\/.*wayforpay/)

const always: Readonly<Record<string, Grammar>> = {
  transactionType: string(/^[A-Z_]+$/),
  merchantAccount: string(new RegExp(`^${shop.account}$`)),
  orderReference: (value) =>
    typeof value === 'string' && uuid.test(value.replace(/_WFPREG-\d+-\d+$/, '')),
  merchantSignature: string(/^[0-9a-f]{32}$/),
  apiVersion: number(/^1$/),
}

const purchase: Readonly<Record<string, Grammar>> = {
  merchantAuthType: string(/^SimpleSignature$/),
  merchantDomainName: string(/^[a-z0-9.-]+$/),
  // Seconds: a number of milliseconds would have thirteen digits.
  orderDate: number(/^[1-9]\d{9}$/),
  amount,
  currency,
  productName: oneOf(someText),
  productCount: oneOf(number(/^1$/)),
  productPrice: oneOf(amount),
  serviceUrl: callbackUrl,
}
const purchaseSigned = [
  'merchantAccount',
  'merchantDomainName',
  'orderReference',
  'orderDate',
  'amount',
  'currency',
  'productName',
  'productCount',
  'productPrice',
]

const client: Readonly<Record<string, Grammar>> = {
  clientFirstName: someText,
  clientLastName: someText,
  clientEmail: string(/^\S+@\S+$/),
  clientPhone: string(/^\+?\d{7,15}$/),
  clientCountry: string(/^[A-Z]{3}$/),
}

/** What this API can be asked. */
export type ApiAsking = Extract<Asking, 'checkout' | 'poll' | 'refund' | 'charge' | 'close'>

/** What may be asked: the fields that must be there, those that may, and what is signed. */
interface Call {
  readonly asking: ApiAsking
  readonly fields: Readonly<Record<string, Grammar>>
  readonly optional?: Readonly<Record<string, Grammar>>
  readonly signed: readonly string[]
}

const order = ['merchantAccount', 'orderReference']

const calls: Readonly<Record<string, Call>> = {
  CREATE_INVOICE: {
    asking: 'checkout',
    fields: {
      ...purchase,
      returnUrl: string(/^https?:\/\//),
      orderTimeout: number(/^[1-9]\d{1,9}$/),
    },
    optional: { ...client, language: string(/^(?:RU|UA|EN)$/) },
    signed: purchaseSigned,
  },
  CHECK_STATUS: { asking: 'poll', fields: {}, signed: order },
  REMOVE_INVOICE: { asking: 'close', fields: {}, signed: order },
  REFUND: {
    asking: 'refund',
    fields: { amount, currency, comment: someText },
    signed: [...order, 'amount', 'currency'],
  },
  CHARGE: {
    asking: 'charge',
    fields: {
      ...purchase,
      merchantTransactionType: string(/^SALE$/),
      merchantTransactionSecureType: string(/^NON3DS$/),
      recToken: someText,
      clientIpAddress: (value) => typeof value === 'string' && isIP(value) !== 0,
    },
    optional: client,
    signed: purchaseSigned,
  },
}

/** A request as the stand-in understood it. */
export interface ReadRequest {
  readonly asking: ApiAsking
  /** The text of a field, numbers as written; of a list, of its items. */
  text(name: string): string
  readonly isSigned: boolean
}

/** Reads a request and says what is wrong with it; undefined if it is none of the API's. */
export function readRequest(
  { method, target, headers, body }: AskedRequest,
  fault: (sentence: string) => void,
): ReadRequest | undefined {
  if (method !== 'POST' || target !== '/api') {
    fault(`${method} ${target} is no address of the API`)
    return undefined
  }
  const type = headers['content-type'] ?? ''
  if (!type.startsWith('application/json')) fault(`the content type is ${type}`)
  const parsed = parseJson(body)
  const fields = parsed.ok ? parsed.value : undefined
  const name = textOf(isJsonObject(fields) ? fields.get('transactionType') : undefined) ?? ''
  const call = calls[name]
  if (!isJsonObject(fields) || call === undefined) {
    fault(`nothing of the API is asked: ${body}`)
    return undefined
  }
  checkFields(fields, { call, fault: (sentence) => fault(`${name}: ${sentence}`) })
  const texts = call.signed.flatMap((field) => textsOf(fields.get(field)))
  const isSigned = fields.get('merchantSignature') === signatureOf(texts)
  if (!isSigned) fault(`${name} is signed wrongly`)
  const text = (field: string) => textsOf(fields.get(field)).join(',')
  return { asking: call.asking, text, isSigned }
}

function checkFields(
  fields: JsonObject,
  { call, fault }: { readonly call: Call; readonly fault: (sentence: string) => void },
): void {
  const required = { ...always, ...call.fields }
  const known = { ...required, ...call.optional }
  for (const name of Object.keys(required)) if (!fields.has(name)) fault(`${name} is missing`)
  for (const [name, value] of fields) {
    const grammar = known[name]
    if (grammar === undefined) fault(`${name} is no field of it`)
    else if (!grammar(value)) fault(`${name} is wrong`)
  }
  const [price] = textsOf(fields.get('productPrice'))
  if (fields.has('productPrice') && price !== numberTextOf(fields.get('amount'))) {
    fault('the products do not cost what the order does')
  }
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => textsOf(item))
  return [typeof value === 'string' ? value : (numberTextOf(value) ?? '')]
}
