import type { OwnEndpoint, RegistrationState } from '../../billing/types.ts'
import { faultText } from '../../upkeep/endpoint-fault-text.ts'

/** Something that is not as it should be, and what to do; both may hold foreign text. */
export interface RegistrationFault {
  readonly found: string
  readonly fix: string
}

interface Setup {
  readonly title: string
  /** The variable of the secret. */
  readonly variable: string | null
}

const register =
  'Register it: quittance has a command for it, GATEWAY-register-webhook; an app has billing.registration.register.'

/** What is wrong with what the provider has registered; none if callbacks come as they should. */
export function registrationFaults(
  { url, own, orphans }: RegistrationState,
  setup: Setup,
): readonly RegistrationFault[] {
  const [keptOne] = own
  const several =
    own.length > 1
      ? [
          {
            found: `${own.length} endpoints have our callback URL: every event comes ${own.length} times.`,
            fix: 'Remove all but the first in the dashboard.',
          },
        ]
      : []
  const left = orphans.map(({ url: other }) => ({
    found: `It also sends to ${other}: left over from another URL?`,
    fix: 'If no other installation of yours uses it, remove it in the dashboard.',
  }))
  const missing = { found: `It has no endpoint for ${url}: no callback comes.`, fix: register }
  return [...(keptOne === undefined ? [missing] : ownFaults(keptOne, setup)), ...several, ...left]
}

function ownFaults(
  { endpoint, faults, secretIsConfigured }: OwnEndpoint,
  { title, variable }: Setup,
): readonly RegistrationFault[] {
  const secret =
    secretIsConfigured === false
      ? [
          {
            found: `${variable ?? 'The secret here'} is not the secret of endpoint ${endpoint.id}: its callbacks are refused.`,
            fix: `Copy the secret from the dashboard of ${title}, set it, and restart.`,
          },
        ]
      : []
  return [
    ...secret,
    ...faults.map((fault) => ({
      found: `Endpoint ${endpoint.id}: ${faultText(fault)}.`,
      fix: register,
    })),
  ]
}
