import { parseMinorUnits } from '../../kernel/money.ts'
import { numberTextOf, textOf, type JsonObject, type JsonValue } from '../body/json.ts'

/** What an object states of money; values that cannot be read are left out. */
export interface StatedMoney {
  readonly amount?: bigint
  readonly currency?: string
}

/** The amount in this field, with the object's currency. */
export function moneyOf(object: JsonObject, field: string): StatedMoney {
  const amount = amountOf(object, field)
  const currency = currencyOf(object)
  return {
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
  }
}

/** From the number's source text: `4999.0`, `4.999e3` and `-1` are no amount and settle nothing. */
export function amountOf(object: JsonObject, field: string): bigint | undefined {
  return parseMinorUnits(numberTextOf(object.get(field)))
}

/** Amounts come as whole minor units, currencies as three lower-case letters. */
const currencyGrammar = /^[a-z]{3}$/

/** The ISO 4217 code in capitals; undefined for any other spelling than Stripe's own. */
export function currencyOf(object: JsonObject): string | undefined {
  return textOf(object.get('currency'))?.match(currencyGrammar)?.[0].toUpperCase()
}

const unixTime = /^[1-9]\d{0,10}$/

/** The moment in this field, in whole Unix seconds; undefined for null and for anything else. */
export function timeIn(value: JsonValue | undefined): Date | undefined {
  const text = numberTextOf(value)?.match(unixTime)?.[0]
  return text === undefined ? undefined : new Date(Number(text) * 1000)
}

/** A merchant may give a customer any id, such as an address of theirs. */
const customerGrammar = /^[\x21-\x7e]{1,255}$/

/** The id of the customer that an object or a change names. */
export function customerOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && customerGrammar.test(value) ? value : undefined
}

/** A field as a result's detail shows it. */
export function shownField(object: JsonObject, field: string): string {
  return `${field} ${textOf(object.get(field)) ?? 'missing'}`
}
