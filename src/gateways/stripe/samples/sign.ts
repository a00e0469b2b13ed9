import { QuittanceError } from '../../../kernel/errors.ts'
import { variableFor } from '../../credential-fields.ts'
import { findScenario } from '../../find-scenario.ts'
import type { SignInput, Signer } from '../../gateway.ts'
import { hmacSha256 } from '../../signing/hmac.ts'
import { sampleEvent, sampleInput } from './event.ts'
import { changeOf, scenarios } from './scenarios.ts'

/** The header that Stripe would send: one `v1` for each secret. `signedAt` in Unix seconds. */
function signatureHeader(
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

const byName = new Map(scenarios.map((scenario) => [scenario.name, scenario]))

/** Makes callbacks as Stripe words and signs them. Errors: `gateway_not_configured`, `usage`. */
export const stripeSigner: Signer = {
  scenarios: Object.fromEntries(byName),
  sign(input) {
    const scenario = findScenario('stripe', byName, input.scenario)
    if (!input.credentials.configured) {
      throw new QuittanceError(
        'gateway_not_configured',
        `a callback of Stripe cannot be signed without ${variableFor(input.credentials, 'signing_secret')}`,
      )
    }
    const body = sampleEvent(input, changeOf(scenario, sampleInput(input)))
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
