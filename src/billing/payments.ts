import type { Transaction } from '../database/connect.ts'
import { findPayment, listPayments } from '../database/payments.ts'
import { systemClock } from '../kernel/clock.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { isUuid, newUuid } from '../kernel/ids.ts'
import { chargeSavedCard } from '../money/charge-saved-card.ts'
import { checkoutFailure, openCheckout } from '../money/open-checkout.ts'
import { gatewayOf, type Operating } from '../money/operating.ts'
import type { Payment } from '../payments/payment.ts'
import { requeueCallsAwaiting } from '../outcomes/awaiting.ts'
import { createPayment, type CreatedPayment } from '../checkout/create-payment.ts'
import type { PaymentCreation } from '../checkout/draft-payment.ts'
import { insist } from '../queue/insist.ts'
import type { BoundBilling } from '../listeners/listener.ts'
import { readPaymentInput, type PaymentInput } from '../checkout/payment-input.ts'
import type { Addresses } from '../checkout/checkout-request.ts'
import { planCheckout } from '../checkout/plan-checkout.ts'
import type { AfterCommit } from '../listeners/run-listeners.ts'
import type { Parts } from './parts.ts'
import type { Settings } from './settings.ts'

/** Where providers and payers are sent; a callback URL follows the configured path and origin. */
export function addressesOf({ origin, webhookPaths }: Settings): Addresses {
  return {
    origin,
    callbackUrl: (gateway) => origin + webhookPaths[0].replace('{gateway}', gateway),
  }
}

/** What operations at providers are made with. */
export function operatingOf(
  parts: Pick<Parts, 'processing' | 'queue'>,
  settings: Settings,
): Operating {
  return {
    processing: parts.processing,
    addresses: addressesOf(settings),
    queue: settings.queue,
    answerWithin: settings.answerWithin,
    now: systemClock,
    onReferences: (payment) => settleEarlyCalls(parts, settings, payment),
  }
}

function creationOf(settings: Settings): PaymentCreation {
  return {
    gateways: settings.gateways,
    token: newUuid(),
    now: systemClock,
    addresses: addressesOf(settings),
    isAllowedReturn: settings.isAllowedReturn,
  }
}

/** Creates a payment, looks at callbacks that came before it, and asks for its checkout. */
export async function createAndOpen(
  parts: Parts,
  settings: Settings,
  input: PaymentInput,
): Promise<Payment> {
  const { database, random } = parts.processing
  const creation = creationOf(settings)
  const created = await insist(() => createPayment(database.db, creation, input), random)
  await settleEarlyCalls(parts, settings, created.payment)
  return handOver(created, operatingOf(parts, settings), input)
}

/** Only a new payment is handed to the provider: a repeated call never begins a second checkout. */
async function handOver(
  { payment, isNew, plan }: CreatedPayment,
  operating: Operating,
  input: PaymentInput,
): Promise<Payment> {
  if (!isNew) {
    const isOpen = payment.checkout !== 'unknown' && payment.checkout !== 'refused'
    if (isOpen || payment.status !== 'pending') return payment
    throw checkoutFailure(payment)
  }
  const { checkout } = gatewayOf(payment, operating).gateway
  if (plan === 'api' && checkout?.kind === 'api') {
    return openCheckout(payment, checkout, operating)
  }
  if (plan === 'charge') {
    return chargeSavedCard(payment, input.initiatedBy ?? 'customer', operating)
  }
  return payment
}

async function settleEarlyCalls(
  { processing, queue }: Pick<Parts, 'processing' | 'queue'>,
  { log }: Settings,
  payment: Payment,
): Promise<void> {
  try {
    const calls = await requeueCallsAwaiting(processing.database.db, payment)
    if (calls.length > 0) await queue.announce()
  } catch (error) {
    log.warn({ err: error }, 'could not look for early callbacks; the sweeper will')
  }
}

/** The operations that a listener may use inside its transaction. */
export function bindBilling(
  { db }: Transaction,
  bound: {
    readonly afterCommit: AfterCommit
    readonly settings: Settings
    readonly parts: Pick<Parts, 'queue'> & { readonly processing: () => Parts['processing'] }
  },
): BoundBilling {
  const { settings, parts } = bound
  return {
    payments: {
      create: async (wanted) => {
        const input = readPaymentInput(wanted)
        refuseGatewayCall(settings, input)
        const { payment } = await createPayment(db, creationOf(settings), input)
        const settleWith = { queue: parts.queue, processing: parts.processing() }
        bound.afterCommit(() => settleEarlyCalls(settleWith, settings, payment))
        return payment
      },
      get: async (id) => (isUuid(id) ? findPayment(db, id) : undefined),
      list: (query = {}) => listPayments(db, query),
    },
  }
}

/** A provider cannot be asked while a transaction is open, nor before its payment is committed. */
function refuseGatewayCall({ gateways }: Settings, input: PaymentInput): void {
  const found = gateways.find(input.gateway)
  const plan = found && planCheckout(found, input)
  if (plan !== 'api' && plan !== 'charge') return
  throw new QuittanceError(
    'gateway_call_in_transaction',
    `a listener's transaction cannot wait for ${input.gateway} to open a checkout`,
  )
}
