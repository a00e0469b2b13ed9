import { days, minutes } from '../../kernel/duration.ts'
import { isQuittanceError, QuittanceError } from '../../kernel/errors.ts'
import { wallTime } from '../../kernel/wall-time.ts'
import type { Payment } from '../../payments/payment.ts'
import { path, textOf, type JsonObject } from '../body/json.ts'
import { variableFor, type Credentials } from '../credential-fields.ts'
import { isHttpUrl } from '../is-http-url.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { CheckoutRequest, OpenedCheckout } from '../operations.ts'
import { purchaseText } from '../purchase-text.ts'
import { replyInvalid, requirePaddleApi } from './api.ts'
import { isId } from './payload.ts'

/**
 * Makes a transaction that the payer's browser opens on a page with Paddle.js: exactly one request.
 * https://developer.paddle.com/api-reference/transactions/create-transaction
 */
export async function openCheckout(
  request: CheckoutRequest,
  context: OperationContext,
): Promise<OpenedCheckout> {
  const api = requirePaddleApi(context)
  const page = checkoutPage(request, context.credentials)
  const transaction = await api
    .post('transactions', {
      ...transactionFor(request, context.now),
      ...(page !== undefined && { checkout: { url: page } }),
    })
    .catch((error: unknown) => {
      throw withFix(error, context.credentials)
    })
  const opened = checkoutIn(transaction)
  const isOurs = path(transaction, 'custom_data', 'payment_id') === request.payment.id
  if (opened.checkoutReference === undefined || opened.url === undefined || !isOurs) {
    throw replyInvalid('POST /transactions')
  }
  return { ...opened, url: opened.url }
}

/**
 * The checkout of a transaction; Paddle never ends one. Values that cannot be read are left out.
 */
export function checkoutIn(transaction: JsonObject): Partial<OpenedCheckout> {
  const id = transaction.get('id')
  const url = textOf(path(transaction, 'checkout', 'url'))
  return {
    ...(url !== undefined && isHttpUrl(url) && { url }),
    ...(isId(id, 'txn_') && { checkoutReference: id }),
    expiresAt: null,
  }
}

/** The name of the price that is made for a payment: the payer does not see it. */
export function priceNameOf(paymentId: string): string {
  return `Payment ${paymentId}`
}

type Renewed = NonNullable<CheckoutRequest['recurring']>

/**
 * What makes Paddle charge the price again and again.
 * https://developer.paddle.com/api-reference/prices/create-price
 */
function cycleOf({ every, trialEndsAt, timeZone }: Renewed, now: Date): object {
  // As clocks on walls show it: a day on which they are changed is a day, too.
  const wall = (time: Date) => wallTime(time.getTime(), timeZone)
  const left = trialEndsAt === null ? 0 : wall(trialEndsAt) - wall(now) - clocksDiffer
  return {
    billing_cycle: { interval: every.unit, frequency: every.count },
    ...(left > 0 && { trial_period: trialOf(Math.ceil(left / days(1))) }),
  }
}

/**
 * It begins when the payer is through with the checkout, and is counted in whole days, or in weeks
 * where Paddle would take no more days: it has at least the days that were promised.
 * https://developer.paddle.com/errors/prices/price_billing_cycle_frequency_greater_than_maximum
 */
function trialOf(length: number): object {
  return length <= longestCount
    ? { interval: 'day', frequency: length }
    : { interval: 'week', frequency: Math.ceil(length / 7) }
}

const longestCount = 999

/** A trial of 30 days is one of 30, even if the clock that set its end is ahead of ours. */
const clocksDiffer = minutes(5)

/**
 * One item with a price of its own. `tax_mode` is `internal`: the tax is within the price, so that
 * the payer pays exactly this amount in every country. `standard` is the one category that every
 * account may sell in without asking Paddle first.
 */
function transactionFor({ payment, recurring }: CheckoutRequest, now: Date): object {
  const { id, amount, currency } = payment
  const price = {
    description: priceNameOf(id),
    unit_price: { amount: amount.toString(), currency_code: currency },
    tax_mode: 'internal',
    quantity: { minimum: 1, maximum: 1 },
    ...(recurring !== undefined && cycleOf(recurring, now)),
    product: { name: productName(payment), tax_category: 'standard' },
  }
  return {
    items: [{ quantity: 1, price }],
    currency_code: currency,
    collection_mode: 'automatic',
    custom_data: { payment_id: id },
  }
}

const longestName = 200

function productName(payment: Payment): string {
  return purchaseText(payment).slice(0, longestName).toWellFormed()
}

/**
 * The page that loads Paddle.js. Without a setting it is ours, if that can be reached by https;
 * otherwise undefined, and Paddle uses the account's default payment link.
 */
function checkoutPage(
  { origin, payment }: CheckoutRequest,
  { settings }: Credentials,
): string | undefined {
  if (settings.checkout_url !== undefined) return settings.checkout_url
  const isPublic = URL.parse(origin)?.protocol === 'https:'
  return isPublic ? `${origin}/billing/${payment.gateway}/checkout` : undefined
}

const tooLittle = 'Raise the amount: it is less than Paddle charges.'

/** By Paddle's code; `variable` is where a checkout page can be set. */
const fixes = (variable: string): ReadonlyMap<string | undefined, string> =>
  new Map([
    [
      'transaction_default_checkout_url_not_set',
      'Set a default payment link in Paddle (Checkout, Checkout settings): Paddle wants one.',
    ],
    [
      'transaction_checkout_url_domain_is_not_approved',
      `Have Paddle approve the domain of the checkout page (Checkout, Website approval), or set ${variable} to a page on an approved one.`,
    ],
    ['transaction_balance_less_than_charge_limit', tooLittle],
    ['transaction_recurring_balance_less_than_charge_limit', tooLittle],
  ])

function withFix(error: unknown, credentials: Credentials): unknown {
  if (!isQuittanceError(error)) return error
  const { code, message, providerCode } = error
  const fix = fixes(variableFor(credentials, 'checkout_url')).get(providerCode)
  return fix === undefined ? error : new QuittanceError(code, message, { fix, providerCode })
}
