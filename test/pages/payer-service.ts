import { setTimeout as pause } from 'node:timers/promises'
import type { BillingOptions } from '../../src/billing/options.ts'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import type { CreateSubscriptionInput } from '../../src/money/subscription-input.ts'
import type { CreatedSubscription } from '../../src/wire/subscription.ts'
import type { CheckoutForm } from '../../src/gateways/operations.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { Payment, PaymentStatus } from '../../src/payments/payment.ts'
import {
  eventually,
  order,
  startService,
  type Service,
  type ServiceOptions,
} from '../http/service.ts'
import { stating } from '../support/stating-gateway.ts'

/** Whose payers post a form; where to, and what, a test may change. */
export const form: { action: string; fields: CheckoutForm['fields'] } = {
  action: 'https://provider.example/pay',
  fields: { signature: '"><b>&', submit: 'the form has a field of this name' },
}

const formpay: Gateway = {
  ...stating,
  name: 'formpay',
  title: 'Formpay',
  checkout: {
    kind: 'form',
    form: ({ payment }) => ({
      action: form.action,
      fields: { ...form.fields, order: payment.id, amount: payment.amount.toString() },
    }),
  },
}

/** Sends payers to any address, or never answers. */
const linkpay: Gateway = {
  ...stating,
  name: 'linkpay',
  title: 'Linkpay',
  checkout: {
    kind: 'api',
    open: ({ payment }) => {
      if (payment.description === null) {
        throw new QuittanceError('provider_unreachable', 'it did not answer')
      }
      return Promise.resolve({ url: payment.description, expiresAt: null })
    },
  },
}

export const shop = 'https://shop.example.test'

/** Processes nothing until `work` is called. */
export function startPayerService(
  billing: BillingOptions = {},
  options: Omit<ServiceOptions, 'billing'> = {},
): Promise<Service> {
  return startService({
    work: false,
    ...options,
    billing: {
      extraGateways: [formpay, linkpay],
      returnOrigins: [shop],
      gateways: { paddle: { signing_secret: 'pdl_ntfset_x', client_token: 'test_7d279f61' } },
      ...billing,
    },
  })
}

export function createPayment(
  { core }: Service,
  input: Partial<CreatePaymentInput> = {},
): Promise<Payment> {
  return core.payments.create({
    ...order,
    description: 'Two tickets, row 7',
    returnUrl: `${shop}/thanks?order=42`,
    ...input,
  })
}

/** One whose checkout has just ended. */
export async function createExpired(service: Service): Promise<string> {
  const expiresAt = new Date(Date.now() + 500)
  const { id } = await createPayment(service, { expiresAt })
  await pause(Math.max(0, expiresAt.getTime() - Date.now() + 1))
  return id
}

/** One whose provider was asked for a checkout and has not answered. */
export async function createUnanswered(service: Service): Promise<string> {
  const id = newUuid()
  await service.core.payments
    .create({ ...order, id, gateway: 'linkpay' })
    .catch((error: QuittanceError) => {
      if (error.code !== 'checkout_unknown') throw error
    })
  return id
}

/** Processes what there is until the payment stands like this. */
export async function workUntil(service: Service, id: string, status: PaymentStatus) {
  const worker = await service.core.work()
  await eventually(async () => {
    const payment = await service.core.payments.get(id)
    return payment?.status === status ? payment : undefined
  })
  await worker.stop()
}

/** Delivers a callback of the fake gateway and processes it. */
export async function settle(service: Service, id: string, result: 'success' | 'failure') {
  await service.post('/billing/webhooks/fake', JSON.stringify({ payment_id: id, result }))
  await workUntil(service, id, result === 'success' ? 'paid' : 'failed')
}

/** A monthly subscription of the fake gateway. */
export async function subscribe(
  { core }: Service,
  input: Partial<CreateSubscriptionInput> = {},
): Promise<CreatedSubscription> {
  return core.subscriptions.create({
    gateway: 'fake',
    amount: 14_900,
    currency: 'EUR',
    every: 'month',
    payable: { type: 'account', id: newUuid() },
    description: 'Reading room, monthly',
    ...input,
  })
}

/** A saved test card: the amount of a charge says how it ends. */
export async function saveTestCard(service: Service): Promise<string> {
  const { id } = await createPayment(service)
  const body = JSON.stringify({ payment_id: id, result: 'success', card: 'good' })
  await service.post('/billing/webhooks/fake', body)
  await workUntil(service, id, 'paid')
  const { data } = await service.core.paymentMethods.list({ paymentId: id })
  return data[0]?.id ?? ''
}
