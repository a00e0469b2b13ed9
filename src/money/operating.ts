import type { OperationContext } from '../gateways/operations.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import { requireGateway } from '../gateways/require.ts'
import type { Duration } from '../kernel/duration.ts'
import { isQuittanceError, QuittanceError, type ErrorCode } from '../kernel/errors.ts'
import { within } from '../kernel/within.ts'
import type { Payment } from '../payments/payment.ts'
import type { Addresses } from '../checkout/checkout-request.ts'
import type { Processing } from '../processing/context.ts'

/** What a provider is asked with, whatever it is asked. */
export interface Asking {
  readonly processing: Pick<Processing, 'gateways' | 'log'>
  /** How long a provider may take to answer. */
  readonly answerWithin: Duration
  now(): Date
}

/** What operations on payments are made with. */
export interface Operating extends Asking {
  readonly processing: Processing
  readonly addresses: Addresses
  /** Of what queued listeners are told by. */
  readonly queue: string
  /** References came into the payment: callbacks that waited for one are looked at again. */
  onReferences(payment: Payment): Promise<void>
}

/** The gateway of a payment. Error: `gateway_unknown`. */
export function gatewayOf({ gateway }: Payment, { processing }: Operating): RegisteredGateway {
  return requireGateway(processing.gateways, gateway)
}

/** Asks a provider, for a limited time; no transaction is open. Error: `provider_unreachable`. */
export function askProvider<T>(
  { gateway, credentials }: RegisteredGateway,
  asking: Asking,
  ask: (context: OperationContext) => Promise<T>,
): Promise<T> {
  const { answerWithin, processing } = asking
  const late = () =>
    new QuittanceError(
      'provider_unreachable',
      `${gateway.title} did not answer within ${answerWithin / 1000} s`,
    )
  return within(answerWithin, late, (signal) =>
    ask({ credentials, log: processing.log, signal, now: asking.now() }),
  )
}

const refusals: ReadonlySet<string> = new Set<ErrorCode>([
  'provider_refused',
  'gateway_not_configured',
  'payment_invalid',
  'payment_method_unusable',
])

/** Whether certainly nothing was done: the provider said no, or was not even asked. */
export function isRefusal(error: unknown): error is QuittanceError {
  return isQuittanceError(error) && refusals.has(error.code)
}

/** What a failed request is kept as: bounded, and without a secret. */
export function failureText(error: unknown, { processing }: Operating): string {
  const text = error instanceof Error ? error.message : String(error)
  return processing.scrub(text).slice(0, 500)
}
