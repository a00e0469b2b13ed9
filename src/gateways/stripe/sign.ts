import { QuittanceError } from '../../kernel/errors.ts'
import type { SignInput, Signer } from '../gateway.ts'
import { hmacSha256 } from '../signing/hmac-sha256.ts'
import { sampleEvent, sampleInput, type SampleInput } from './sample-event.ts'
import { sampleIntent } from './sample-intent.ts'
import { sampleSession } from './sample-session.ts'

interface Scenario {
  readonly shows: string
  readonly type: string
  readonly object: (input: SampleInput) => object
}

const scenarios: ReadonlyMap<string, Scenario> = new Map<string, Scenario>([
  [
    'paid',
    {
      shows: 'the checkout is completed and paid by card',
      type: 'checkout.session.completed',
      object: (input) =>
        sampleSession(input, { status: 'complete', paymentStatus: 'paid', method: 'card' }),
    },
  ],
  [
    'intent_paid',
    {
      shows: 'the payment intent of the checkout succeeded',
      type: 'payment_intent.succeeded',
      object: (input) => sampleIntent(input, 'succeeded'),
    },
  ],
  [
    'async_paid',
    {
      shows: 'a bank debit arrived, days after the checkout',
      type: 'checkout.session.async_payment_succeeded',
      object: (input) =>
        sampleSession(input, { status: 'complete', paymentStatus: 'paid', method: 'sepa_debit' }),
    },
  ],
  [
    'async_failed',
    {
      shows: 'a bank debit was refused, days after the checkout',
      type: 'checkout.session.async_payment_failed',
      object: (input) =>
        sampleSession(input, { status: 'complete', paymentStatus: 'unpaid', method: 'sepa_debit' }),
    },
  ],
  [
    'expired',
    {
      shows: 'the checkout expired unpaid',
      type: 'checkout.session.expired',
      object: (input) =>
        sampleSession(input, { status: 'expired', paymentStatus: 'unpaid', method: 'card' }),
    },
  ],
  [
    'declined',
    {
      shows: 'the card was declined; the same checkout may still be paid',
      type: 'payment_intent.payment_failed',
      object: (input) => sampleIntent(input, 'requires_payment_method'),
    },
  ],
  [
    'canceled',
    {
      shows: 'the payment intent was canceled',
      type: 'payment_intent.canceled',
      object: (input) => sampleIntent(input, 'canceled'),
    },
  ],
])

/** The header that Stripe would send: one `v1` for each secret. `signedAt` in Unix seconds. */
export function signatureHeader(
  { secrets }: SignInput['credentials'],
  body: string,
  signedAt: number,
): string {
  const signatures = (secrets.signing_secret ?? []).map((secret) => {
    const digest = hmacSha256(secret, [`${signedAt}.`, body])
    return `v1=${Buffer.from(digest).toString('hex')}`
  })
  return [`t=${signedAt}`, ...signatures].join(',')
}

/** Makes callbacks as Stripe words and signs them. Errors: `gateway_not_configured`, `usage`. */
export const stripeSigner: Signer = {
  scenarios: Object.fromEntries(Array.from(scenarios, ([name, { shows }]) => [name, shows])),
  sign(input) {
    const scenario = scenarios.get(input.scenario)
    if (scenario === undefined) throw unknownScenario(input.scenario)
    if (!input.credentials.configured) {
      throw new QuittanceError(
        'gateway_not_configured',
        'a callback of gateway stripe cannot be signed without STRIPE_SIGNING_SECRET',
      )
    }
    const body = sampleEvent(input, scenario.type, scenario.object(sampleInput(input)))
    const signedAt = Math.floor(input.now.getTime() / 1000)
    return {
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'stripe-signature': signatureHeader(input.credentials, body, signedAt),
        'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
      },
      body,
    }
  },
}

function unknownScenario(name: string): QuittanceError {
  const known = [...scenarios.keys()].join(', ')
  return new QuittanceError('usage', `gateway stripe has no scenario ${name}; it has ${known}`)
}
