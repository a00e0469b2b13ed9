import { findCurrency } from '../../../kernel/currency.ts'
import type { JsonNumber } from '../../body/json.ts'
import type { SignInput } from '../../gateway.ts'

/** The content of a sample's field; numbers in the form in which they are written. */
export type SampleValue = string | null | JsonNumber

/** A callback's fields in WayForPay's order, without the signature. */
export type SampleFields = ReadonlyMap<string, SampleValue>

/** How the scenarios differ. */
export interface SampleState {
  readonly transactionStatus: string
  readonly reason: string
  readonly reasonCode: number
  /** The order is paid or held: there is a bank code. */
  readonly authorized?: true
  readonly savesCard?: true
  readonly scheduled?: true
}

export function sampleFields(input: SignInput, state: SampleState): SampleFields {
  const { payment, credentials, now } = input
  const sentAt = Math.floor(now.getTime() / 1000)
  const amount = majorUnits(payment.amount, payment.currency)
  return new Map<string, SampleValue>([
    ['merchantAccount', payment.merchantAccount ?? credentials.settings.merchant_account ?? ''],
    ['orderReference', orderReferenceOf(input, state)],
    ['amount', { number: amount }],
    ['currency', payment.currency],
    ['authCode', state.authorized ? '602318' : ''],
    ['email', 'payer@example.com'],
    ['phone', null],
    ['createdDate', { number: String(sentAt - 90) }],
    ['processingDate', { number: String(sentAt) }],
    ['cardPan', '44****4441'],
    ['cardType', 'Visa'],
    ['issuerBankCountry', 'Ukraine'],
    ['issuerBankName', 'Тестовий банк'],
    ['recToken', state.savesCard ? sampleToken(payment.id) : ''],
    ['transactionStatus', state.transactionStatus],
    ['reason', state.reason],
    ['reasonCode', { number: String(state.reasonCode) }],
    ['fee', { number: '0' }],
    ['paymentSystem', 'card'],
    ['repayUrl', 'https://secure.wayforpay.com/page?vkh=1&lang=ua'],
  ])
}

/** The token of the card with which a payment was made: always the same for one payment. */
export function sampleToken(paymentId: string): string {
  return paymentId.split('').toReversed().join('')
}

/**
 * A scheduled payment has its reference already; the first renewal of another is derived from its
 * id.
 */
function orderReferenceOf({ payment }: SignInput, { scheduled }: SampleState): string {
  if (payment.providerReference !== null) return payment.providerReference
  const rule = Number.parseInt(payment.id.slice(-6), 16)
  return scheduled ? `${payment.id}_WFPREG-${rule}-1` : payment.id
}

/** `150.75`, `490`: PHP writes no zeros at the end. */
export function majorUnits(amount: bigint, currency: string): string {
  const digits = findCurrency(currency)?.digits ?? 2
  const text = String(amount).padStart(digits + 1, '0')
  const whole = text.slice(0, text.length - digits)
  const fraction = text.slice(text.length - digits).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** JSON as PHP writes it: slashes and everything outside ASCII escaped. */
export function phpJson(fields: SampleFields): string {
  return `{${Array.from(fields, ([name, value]) => `${quoted(name)}:${written(value)}`).join(',')}}`
}

function written(value: SampleValue): string {
  if (value === null) return 'null'
  return typeof value === 'string' ? quoted(value) : value.number
}

function quoted(text: string): string {
  return JSON.stringify(text)
    .replaceAll('/', '\\/')
    .replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
