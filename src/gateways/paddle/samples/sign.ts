import { QuittanceError } from '../../../kernel/errors.ts'
import { variableFor } from '../../credential-fields.ts'
import { findScenario } from '../../find-scenario.ts'
import type { SignInput, Signer } from '../../gateway.ts'
import { hmacSha256 } from '../../signing/hmac.ts'
import { sampleEvent, sampleInput, sampleTransactionId } from './event.ts'
import { scenarios } from './scenarios.ts'

/** The header that Paddle would send: one `h1` for each secret. `signedAt` in Unix seconds. */
function signatureHeader(
  { secrets }: SignInput['credentials'],
  body: string,
  signedAt: number,
): string {
  const signatures = (secrets.signing_secret ?? []).map((secret) => {
    const digest = hmacSha256(secret, [`${signedAt}:`, body])
    return `h1=${Buffer.from(digest).toString('hex')}`
  })
  return [`ts=${signedAt}`, ...signatures].join(';')
}

/** Makes callbacks as Paddle words and signs them. Errors: `gateway_not_configured`, `usage`. */
export const paddleSigner: Signer = {
  scenarios: Object.fromEntries(scenarios),
  checkoutReferenceOf: sampleTransactionId,
  sign(input) {
    const scenario = findScenario('paddle', scenarios, input.scenario)
    if (!input.credentials.configured) {
      throw new QuittanceError(
        'gateway_not_configured',
        `a callback of Paddle cannot be signed without ${variableFor(input.credentials, 'signing_secret')}`,
      )
    }
    const body = sampleEvent(input, scenario.type, scenario.entity(sampleInput(input)))
    const signedAt = Math.floor(input.now.getTime() / 1000)
    return {
      headers: {
        'content-type': 'application/json',
        'paddle-signature': signatureHeader(input.credentials, body, signedAt),
        'user-agent': 'Paddle',
      },
      body,
    }
  },
}
