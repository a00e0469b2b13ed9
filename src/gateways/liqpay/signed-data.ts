import { QuittanceError } from '../../kernel/errors.ts'
import { formatMajorUnits, type Money } from '../../kernel/money.ts'
import type { Secret } from '../../kernel/secret.ts'
import { signatureOf } from './signature.ts'

/** A JSON number given by its digits: an amount never becomes a float, in either direction. */
export interface Decimal {
  readonly decimal: string
}

/** The fields of `data`. */
export type DataFields = Readonly<Record<string, string | number | boolean | bigint | Decimal>>

/** What LiqPay gets, and what it sends: https://www.liqpay.ua/doc/api/callback */
export type SignedData = Readonly<Record<'data' | 'signature', string>>

/** `data` and `signature`: the base64 of the fields as JSON, and of the SHA-1 over it. */
export function signData(privateKey: Secret, fields: DataFields): SignedData {
  const data = Buffer.from(dataText(fields)).toString('base64')
  return { data, signature: Buffer.from(signatureOf(privateKey, data)).toString('base64') }
}

/** The JSON text of the fields; built by hand, because of the decimals. */
function dataText(fields: DataFields): string {
  const members = Object.entries(fields).map(([name, value]) => `"${name}":${jsonOf(value)}`)
  return `{${members.join(',')}}`
}

function jsonOf(value: DataFields[string]): string {
  if (typeof value === 'object') return value.decimal
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

/** An amount as in requests: in major units. Error: `payment_invalid` for an unknown currency. */
export function decimalOf(money: Money): Decimal {
  const decimal = formatMajorUnits(money)
  if (decimal !== undefined) return { decimal }
  throw new QuittanceError('payment_invalid', `LiqPay is sent no ${money.currency}`)
}
