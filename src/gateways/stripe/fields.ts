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
function currencyOf(object: JsonObject): string | undefined {
  return textOf(object.get('currency'))?.match(currencyGrammar)?.[0].toUpperCase()
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
