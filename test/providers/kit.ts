import assert from 'node:assert/strict'
import { readCredentials } from '../../src/gateways/credentials.ts'
import type { Credentials } from '../../src/gateways/credential-fields.ts'
import type { Gateway, SignInput } from '../../src/gateways/gateway.ts'
import type { OperationContext } from '../../src/gateways/interpret-context.ts'
import type {
  ChargeRequest,
  CheckoutRequest,
  RefundRequest,
} from '../../src/gateways/operations.ts'
import { isQuittanceError, type QuittanceError } from '../../src/kernel/errors.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { secret, type Secret } from '../../src/kernel/secret.ts'
import type { PaymentMethod } from '../../src/payments/payment-method.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { pendingPayment } from '../support/pending-payment.ts'
import type { ProviderStandIn } from './provider-stand-in.ts'

// What the tests of every gateway ask a provider with: requests, contexts, and how they fail.

export const now = new Date('2026-11-20T12:00:00Z')
export const hour = 3_600_000

/** Of the row that a refund is made for, and of a saved card. */
export const refundId = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6eff'
const methodId = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6ecc'

type Config = Readonly<Record<string, string>>

interface SignChanges extends Partial<Omit<SignInput, 'payment'>> {
  readonly payment?: Partial<SignInput['payment']>
}

interface ContextChanges extends Partial<OperationContext> {
  /** Settings other than those of the provider. */
  readonly config?: Config
}

/** How each secret begins that a test of this process has used: no error may show that much. */
const beginnings = new Set<string>()

function keepSecret(secret: Secret): void {
  const text = secret.reveal()
  if (text.length >= 8) beginnings.add(text.slice(0, 8))
}

/** What an operation is given, with the settings of a provider. */
export function contextFor(
  gateway: Gateway,
  given: Config,
  { config, ...changes }: ContextChanges = {},
): OperationContext {
  const settings = { production: true, config: { ...given, ...config } }
  const credentials = readCredentials(gateway, {}, settings)
  Object.values(credentials.secrets).flat().forEach(keepSecret)
  const signal = AbortSignal.timeout(120_000)
  return { credentials, log: silentLog, signal, now, ...changes }
}

export function checkoutFor(
  payment: Payment,
  fields: Partial<CheckoutRequest> = {},
): CheckoutRequest {
  const origin = 'https://shop.example'
  return {
    payment,
    callbackUrl: `${origin}/billing/webhooks/${payment.gateway}`,
    returnUrl: `${origin}/billing/return/${payment.id}`,
    expiresAt: payment.expiresAt ?? new Date(now.getTime() + hour),
    saveCard: false,
    origin,
    ...fields,
  }
}

export function refundFor(
  payment: Payment,
  amount: bigint,
  { refundId: id = refundId, ...fields }: Omit<RefundChanges, 'payment'> = {},
): RefundRequest {
  return {
    payment,
    refund: { ...payment, id, type: 'refund', parentId: payment.id, status: 'pending', amount },
    isWhole: amount === payment.amount,
    reason: null,
    ...fields,
  }
}

/** A saved card of this gateway. */
export function methodOf(gateway: string, fields: Partial<PaymentMethod> = {}): PaymentMethod {
  return {
    id: methodId,
    gateway,
    merchantAccount: null,
    live: null,
    status: 'attached',
    providerReference: 'of_its_token',
    customerReference: null,
    paymentId: null,
    details: {},
    hasToken: true,
    createdAt: now,
    updatedAt: now,
    ...fields,
  }
}

export function chargeFor(
  payment: Payment,
  { token, ...fields }: Pick<ChargeRequest, 'token'> & Partial<ChargeRequest>,
): ChargeRequest {
  const method = methodOf(payment.gateway)
  if (token !== null) keepSecret(token)
  return {
    ...checkoutFor({ ...payment, paymentMethodId: method.id }),
    method,
    token,
    initiatedBy: 'merchant',
    ...fields,
  }
}

/** `refundId`: of another row than the usual one. */
type RefundChanges = Changes<RefundRequest> & { readonly refundId?: string }

type Changes<Request> = Partial<Omit<Request, 'payment'>> & { readonly payment?: Partial<Payment> }

/** The requests of one gateway's tests: about a payment with these fields, a saved card with those. */
export function requestsOf(
  fixed: Partial<Payment> & Pick<Payment, 'gateway'>,
  card: Partial<PaymentMethod> = {},
) {
  const paymentOf = (fields: Partial<Payment> = {}) => pendingPayment({ ...fixed, ...fields })
  const method = methodOf(fixed.gateway, card)
  return {
    paymentOf,
    checkoutOf: ({ payment, ...fields }: Changes<CheckoutRequest> = {}) =>
      checkoutFor(paymentOf(payment), fields),
    pollOf: (payment?: Partial<Payment>, handedAt = now) => ({
      payment: paymentOf(payment),
      handedAt,
    }),
    refundOf: (amount: bigint, { payment, ...fields }: RefundChanges = {}) =>
      refundFor(paymentOf({ status: 'paid', ...payment }), amount, fields),
    chargeOf: (token: string | null, { payment, ...fields }: Changes<ChargeRequest> = {}) =>
      chargeFor(paymentOf(payment), {
        method,
        token: token === null ? null : secret(token),
        ...fields,
      }),
  }
}

/** Settings by which a gateway asks nobody: no test may reach a provider. */
export function nobody({ credentials }: Pick<Gateway, 'credentials'>): Config {
  return credentials['api_base'] === undefined ? {} : { api_base: 'http://127.0.0.1:9' }
}

/** What a test callback is signed from: a payment that knows nothing of its provider yet. */
export function signInput(
  credentials: Credentials,
  { payment, ...fields }: SignChanges = {},
): SignInput {
  const { id, amount, checkoutReference, providerReference, merchantAccount, live } =
    pendingPayment({ gateway: '' })
  const references = { checkoutReference, providerReference, merchantAccount, live }
  return {
    scenario: 'paid',
    payment: { id, amount, currency: 'UAH', ...references, ...payment },
    credentials,
    now,
    newId: () => '0198f0aa-0000-7000-8000-000000000001',
    ...fields,
  }
}

/** The error that an operation ends with. It shows no secret. */
export async function thrownBy(operation: Promise<unknown>): Promise<QuittanceError> {
  const error: unknown = await operation.then(
    (value) => assert.fail(`it should have failed, but gave ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
  if (!isQuittanceError(error)) throw error
  const shown = `${error.message} ${JSON.stringify(error)} ${error.stack}`
  for (const one of beginnings) assert.ok(!shown.includes(one), 'a secret is shown')
  return error
}

/** Its code, and the provider's own. */
export async function failureOf(operation: Promise<unknown>) {
  const { code, providerCode } = await thrownBy(operation)
  return { code, providerCode }
}

/** A payment of this provider's account that is not handed over yet. */
export function paymentAt(
  { gateway, config }: Pick<ProviderStandIn, 'gateway' | 'config'>,
  fields: Partial<Payment> = {},
): Payment {
  return pendingPayment({
    gateway: gateway.name,
    ...gateway.account(contextFor(gateway, config).credentials),
    currency: 'UAH',
    handedAt: now,
    ...fields,
  })
}
