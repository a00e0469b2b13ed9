import { hours, minutes } from '../../kernel/duration.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import type { Payment } from '../../payments/payment.ts'
import { numberTextOf, textOf, type JsonObject } from '../body/json.ts'
import { checkoutLanguage } from '../checkout-language.ts'
import { isHttpUrl } from '../is-http-url.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { CheckoutRequest, OpenedCheckout, Recurrence } from '../operations.ts'
import { purchaseText } from '../purchase-text.ts'
import { clientFor, isOf, modeOf } from './fetched.ts'
import { isId } from './payload.ts'
import { done, isRefusal, notAskedFor, type Form } from './api-change.ts'

/** https://docs.stripe.com/api/checkout/sessions/create */
export async function openCheckout(
  request: CheckoutRequest,
  context: OperationContext,
): Promise<OpenedCheckout> {
  const { payment } = request
  refuseShortTrial(request, context.now)
  const session = await makeSession(request, context)
  const opened = checkoutOf(session)
  const { url } = opened
  if (url === undefined || !isOf(payment, session)) throw notAskedFor(`POST /${path}`)
  return { ...opened, url }
}

const path = 'v1/checkout/sessions'

/** A customer that Stripe refuses is deleted, of another account, or pays in another currency. */
async function makeSession(
  { customerReference, ...request }: CheckoutRequest,
  context: OperationContext,
): Promise<JsonObject> {
  const { payment } = request
  const client = clientFor(payment, context)
  const make = (asked: CheckoutRequest, attempt: number) =>
    done(
      client.send({
        method: 'post',
        path,
        form: sessionForm(asked, context.now),
        idempotencyKey: `checkout:${payment.id}:${attempt}`,
      }),
    )
  if (customerReference === undefined) return make(request, 1)
  try {
    return await make({ ...request, customerReference }, 1)
  } catch (error) {
    if (!isRefusal(error)) throw error
    context.log.warn({ err: error, payment: payment.id }, 'refused with the known customer')
    return make(request, 2)
  }
}

/** What a session says of its checkout; the URL only while it is open. */
export function checkoutOf(session: JsonObject): Partial<OpenedCheckout> {
  const checkoutReference = session.get('id')
  const url = textOf(session.get('url'))
  const expiry = Number(numberTextOf(session.get('expires_at')))
  if (!isId(checkoutReference, 'cs_')) throw notAskedFor('for a checkout')
  return {
    checkoutReference,
    ...(url !== undefined && isHttpUrl(url) && { url }),
    ...(Number.isSafeInteger(expiry) && { expiresAt: new Date(expiry * 1000) }),
    ...modeOf(session),
  }
}

function sessionForm(request: CheckoutRequest, now: Date): Form {
  const { payment, returnUrl, recurring, customerReference: customer } = request
  // Stripe has the address of a customer that it knows, and takes no other.
  const email = customer === undefined ? emailOf(payment) : undefined
  const locale = checkoutLanguage(payment, locales)
  return {
    client_reference_id: payment.id,
    'metadata[payment_id]': payment.id,
    'line_items[0][quantity]': '1',
    'line_items[0][price_data][currency]': payment.currency.toLowerCase(),
    'line_items[0][price_data][unit_amount]': payment.amount.toString(),
    'line_items[0][price_data][product_data][name]': describe(payment),
    // The same page for both: only the callback decides what became of the payment.
    success_url: returnUrl,
    cancel_url: returnUrl,
    expires_at: expiresAt(request.expiresAt, now).toString(),
    ...(customer !== undefined && { customer }),
    ...(email !== undefined && { customer_email: email }),
    ...(locale !== undefined && { locale }),
    ...(recurring === undefined ? paymentForm(request) : recurringForm(payment, recurring)),
  }
}

function paymentForm({ payment, saveCard, customerReference }: CheckoutRequest): Form {
  return {
    mode: 'payment',
    'payment_intent_data[metadata][payment_id]': payment.id,
    ...(saveCard && {
      'payment_intent_data[setup_future_usage]': 'off_session',
      // Without a customer there is no one to keep the card for.
      ...(customerReference === undefined && { customer_creation: 'always' }),
    }),
  }
}

/** Such a checkout has a customer and keeps the card in any case. */
function recurringForm({ id }: Payment, { every, trialEndsAt }: Recurrence): Form {
  const trial = trialEndsAt && Math.ceil(trialEndsAt.getTime() / 1000).toString()
  return {
    mode: 'subscription',
    'line_items[0][price_data][recurring][interval]': every.unit,
    'line_items[0][price_data][recurring][interval_count]': every.count.toString(),
    // The subscription keeps them, and each of its invoices has a copy.
    'subscription_data[metadata][payment_id]': id,
    // Only such a subscription can be paused.
    'subscription_data[billing_mode][type]': 'flexible',
    ...(trial !== null && { 'subscription_data[trial_end]': trial }),
  }
}

/** Of a trial, from the moment at which its checkout is opened. */
const shortestTrial = hours(48)

/** Stripe would refuse it in words that nobody understands. Error: `provider_refused`. */
function refuseShortTrial({ recurring }: CheckoutRequest, now: Date): void {
  const { trialEndsAt = null } = recurring ?? {}
  if (trialEndsAt === null || trialEndsAt.getTime() - now.getTime() > shortestTrial) return
  throw new QuittanceError('provider_refused', 'Stripe begins no trial of 48 hours or less', {
    fix: 'Let the trial end more than 48 hours after its checkout is opened.',
  })
}

/**
 * The languages of Stripe's checkout; Ukrainian is not among them. Without one it asks the browser.
 * https://docs.stripe.com/js/appendix/supported_locales
 */
const locales = (
  'bg cs da de el en en-GB es es-419 et fi fil fr fr-CA hr hu id it ja ko lt lv ms mt nb nl pl pt ' +
  'pt-BR ro ru sk sl sv th tr vi zh zh-HK zh-TW'
).split(' ')

/** Only a help for the payer: with an invalid one Stripe would refuse the checkout. */
const emailGrammar = /^[^\s@]+@[^\s@]+$/

function emailOf({ customer }: Payment): string | undefined {
  const email = customer?.['email']
  return typeof email === 'string' ? email.trim().match(emailGrammar)?.[0] : undefined
}

const longestName = 250

/** What the payer reads. */
export function describe(payment: Payment): string {
  return Array.from(purchaseText(payment)).slice(0, longestName).join('')
}

/** A checkout lasts 30 minutes to 24 hours by Stripe's clock, which is not exactly ours. */
const shortestLife = minutes(31)
const longestLife = hours(24) - minutes(1)

/** In Unix seconds. */
function expiresAt(wanted: Date, now: Date): number {
  const life = wanted.getTime() - now.getTime()
  const clamped = Math.min(Math.max(life, shortestLife), longestLife)
  return Math.floor((now.getTime() + clamped) / 1000)
}
