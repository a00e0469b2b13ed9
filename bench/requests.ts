import { readCredentials } from '../src/gateways/credentials.ts'
import type { SignedCallback } from '../src/gateways/gateway.ts'
import { stripe } from '../src/gateways/stripe/index.ts'
import { stripeSigner } from '../src/gateways/stripe/samples/sign.ts'
import { newUuid } from '../src/kernel/ids.ts'

export const signingSecret = 'whsec_quittance_bench_0123456789abcdef'
export const webhookPath = '/billing/webhooks/stripe'
export const amount = 4999n
export const currency = 'UAH'

const credentials = readCredentials(
  stripe,
  { STRIPE_SIGNING_SECRET: signingSecret },
  { production: false },
)

/** Says that this payment is paid, worded and signed as Stripe does; each one is another event. */
export function signedCallback(paymentId: string, now: Date): SignedCallback {
  return stripeSigner.sign({
    scenario: 'intent_paid',
    payment: {
      id: paymentId,
      amount,
      currency,
      checkoutReference: null,
      providerReference: null,
      merchantAccount: null,
      live: null,
    },
    credentials,
    now,
    newId: newUuid,
  })
}

/** A whole HTTP request, ready to be written to a socket. */
export interface SignedRequest {
  /** Id of the payment that it is about. */
  readonly payment: string
  readonly bytes: Buffer
}

/** One about each payment. */
export function makeRequests(payments: readonly string[]): readonly SignedRequest[] {
  const now = new Date()
  return payments.map((payment) => ({ payment, bytes: toRequest(signedCallback(payment, now)) }))
}

function toRequest({ headers, body }: SignedCallback): Buffer {
  const lines = Object.entries({
    host: '127.0.0.1',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`POST ${webhookPath} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}
