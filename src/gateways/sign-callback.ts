import { QuittanceError } from '../kernel/errors.ts'
import type { Gateway, SignedCallback, Signer, SignInput } from './gateway.ts'
import type { RegisteredGateway } from './registry.ts'
import { requireConfigured } from './require.ts'

/** What a test callback states of its payment; anything left out is unknown. */
export type SignedPayment = Pick<SignInput['payment'], 'id' | 'amount' | 'currency'> &
  Partial<SignInput['payment']>

export type CallbackInput = Omit<SignInput, 'payment' | 'credentials'> & {
  readonly payment: SignedPayment
}

/** Error: `gateway_cannot_sign`. */
export function signerOf(gateway: Gateway): Signer {
  if (gateway.signer !== undefined) return gateway.signer
  throw new QuittanceError('gateway_cannot_sign', `${gateway.name} cannot sign test callbacks`)
}

/** The scenario of this name, or the gateway's first one. Errors: `gateway_cannot_sign`, `usage`. */
export function scenarioOf(gateway: Gateway, name?: string): string {
  const known = Object.keys(signerOf(gateway).scenarios)
  const scenario = name ?? known[0] ?? ''
  if (known.includes(scenario)) return scenario
  throw new QuittanceError(
    'usage',
    `${gateway.name} has no scenario ${JSON.stringify(scenario)}; it has ${known.join(', ')}`,
    { fix: `Use one of the scenarios; \`quittance send ${gateway.name} --list\` explains them.` },
  )
}

/** A callback as the provider would send it. Adds the error `gateway_not_configured`. */
export function signCallback(
  { gateway, credentials }: RegisteredGateway,
  input: CallbackInput,
): SignedCallback {
  const signer = signerOf(gateway)
  const scenario = scenarioOf(gateway, input.scenario)
  requireConfigured({ gateway, credentials })
  const payment = {
    checkoutReference: null,
    providerReference: null,
    merchantAccount: null,
    live: null,
    ...input.payment,
  }
  return signer.sign({ ...input, scenario, payment, credentials })
}
