import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import type { AskedRequest } from '../support/stand-in.ts'

// How LiqPay's stand-in reads what it is sent, and writes what it answers.

export interface Shop {
  readonly publicKey: string
  readonly privateKey: string
}

/** Each account (a number) has a shop with keys of its own. */
export const shopOf = (account: number): Shop => ({
  publicKey: `i4821736500${account}`,
  privateKey: `k7Qm2vXr9TzLw4Np8SdF3hJb6YcG${account}aEu`,
})

/** The fields of a request, read from `data`; amounts as what their digits say. */
export type Data = Readonly<Record<string, unknown>> & { readonly action: string }

interface Amount {
  readonly kopiykas: bigint
}

type Test = (value: unknown) => boolean
export const isAmount = (value: unknown): value is Amount =>
  typeof value === 'object' && value !== null && 'kopiykas' in value
const isText: Test = (value) => typeof value === 'string' && value.trim() !== ''
const isUrl: Test = (value) =>
  typeof value === 'string' && value.length <= 510 && /^https?:\/\/\S+$/.test(value)
const isUtc: Test = (value) =>
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(String(value)) &&
  !Number.isNaN(Date.parse(`${String(value)}Z`))
const ofAll: Readonly<Record<string, Test>> = {
  version: (value) => value === 3,
  public_key: (value) => typeof value === 'string' && /^i\d+$/.test(value),
  action: isText,
  order_id: (value) => isText(value) && String(value).length <= 255,
}
const ofOrder: Readonly<Record<string, Test>> = {
  ...ofAll,
  amount: isAmount,
  currency: (value) => ['UAH', 'USD', 'EUR'].includes(String(value)),
  description: isText,
  server_url: isUrl,
}
/** What each action is sent with, and nothing else. */
const grammars: Readonly<Record<string, Readonly<Record<string, Test>>>> = {
  pay: {
    ...ofOrder,
    result_url: isUrl,
    expired_date: isUtc,
    recurringbytoken: (value) => value === undefined || value === '1',
    language: (value) => [undefined, 'uk', 'en'].includes(value as string | undefined),
  },
  status: ofAll,
  refund: { ...ofAll, amount: isAmount },
  paytoken: { ...ofOrder, card_token: isText, ip: (value) => isIP(String(value)) !== 0 },
}

/** A request, or what is wrong with it and LiqPay's code for that. */
export type ReadRequest =
  | { readonly ok: true; readonly data: Data }
  | {
      readonly ok: false
      readonly action: string
      readonly code: string
      readonly faults: readonly string[]
    }

/** Reads a form that is posted to the checkout (`isForm`) or to the API. */
export function readRequest(request: AskedRequest, isForm: boolean, shop: Shop): ReadRequest {
  const { method, headers, body } = request
  const type = headers['content-type'] ?? ''
  if (method !== 'POST' || !/^application\/x-www-form-urlencoded(?:;|$)/.test(type)) {
    return wrong('err_path', `${method} with ${type}, not POST of a form`)
  }
  const form = new URLSearchParams(body)
  const { data: base64 = '', signature = '' } = Object.fromEntries(form)
  if ([...form.keys()].toSorted().join() !== 'data,signature') {
    return wrong('err_missing', `a form of ${[...form.keys()].join()}`)
  }
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.toString('base64') !== base64) return wrong('err_wrong', 'data is no base64')
  const data = readData(bytes.toString('utf8'))
  const { action } = data
  if (signature !== signatureOf(base64, shop)) {
    return { ...wrong('invalid_signature', `${action}: the signature is wrong`), action }
  }
  const isOurs = data['public_key'] === shop.publicKey
  const faults = [...(isOurs ? [] : ['the shop is another one']), ...faultsIn(data, isForm)]
  return faults.length === 0 ? { ok: true, data } : { ok: false, action, code: 'err_wrong', faults }
}

function wrong(code: string, fault: string) {
  return { ok: false, action: '', code, faults: [fault] } as const
}

export function signatureOf(data: string, { privateKey }: Shop): string {
  return createHash('sha1').update(`${privateKey}${data}${privateKey}`).digest('base64')
}

const plainAmount = /^(?=.*[1-9])(?:0|[1-9]\d*)(?:\.\d{1,2})?$/

function readData(text: string): Data {
  const withAmounts = (key: string, value: unknown, context?: { readonly source?: string }) => {
    const source = context?.source ?? ''
    if (key !== 'amount' || typeof value !== 'number' || !plainAmount.test(source)) return value
    const [whole = '', fraction = ''] = source.split('.')
    return { kopiykas: BigInt(whole + fraction.padEnd(2, '0')) }
  }
  return JSON.parse(text, withAmounts) as Data
}

function faultsIn(data: Data, isForm: boolean): readonly string[] {
  const grammar = grammars[data.action]
  if (grammar === undefined || (data.action === 'pay') !== isForm) {
    return [`the action ${data.action} does not belong there`]
  }
  const bad = Object.entries(grammar).filter(([name, test]) => !test(data[name]))
  const unknown = Object.keys(data).filter((name) => !Object.hasOwn(grammar, name))
  return [
    ...bad.map(([name]) => `${data.action}: ${name} is wrong: ${JSON.stringify(data[name])}`),
    ...unknown.map((name) => `${data.action}: ${name} is no field of it`),
  ]
}

export type Fields = Readonly<Record<string, unknown>>

/** JSON with amounts as Java prints them: at least one decimal, and no more zeros than that. */
export function jsonOf(fields: Fields): string {
  const members = Object.entries(fields).map(([name, value]) => {
    if (!isAmount(value)) return `"${name}":${JSON.stringify(value)}`
    const digits = String(value.kopiykas).padStart(3, '0')
    return `"${name}":${digits.slice(0, -2)}.${digits.slice(-2).replace(/0$/, '')}`
  })
  return `{${members.join(',')}}`
}
