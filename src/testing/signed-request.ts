import type { BillingOptions } from '../billing/options.ts'
import { readSettings, type Settings } from '../billing/settings.ts'
import { requireGateway } from '../gateways/require.ts'
import { signCallback, scenarioOf, type SignedPayment } from '../gateways/sign-callback.ts'
import { systemClock } from '../kernel/clock.ts'
import { newUuid } from '../kernel/ids.ts'

/** What a callback states. */
export interface CallbackStatement {
  /** Any payment; it need not be stored. Spread it to state another amount. */
  readonly payment: SignedPayment
  /** One of the gateway's scenarios (`quittance send <gateway> --list`); default its first. */
  readonly scenario?: string
  /** When the provider signed it; default now. An old signature is refused. */
  readonly signedAt?: Date
}

/** What a callback states, and the app that it is for. */
export interface SignedRequestOptions extends CallbackStatement {
  /** What the app gives to `createBilling`: its credentials, public origin and webhook path. */
  readonly options: BillingOptions
}

/**
 * A callback as the provider would send it: its URL, its headers, the exact body, the signature.
 * Each call makes another one, with its own id; send the same `Request` (its `clone()`) again for a
 * redelivery. For your own app's route: `await app.fetch(signedRequest(...))`.
 *
 * Errors: `gateway_unknown`, `gateway_cannot_sign`, `gateway_not_configured` (the options contain
 * no secret for it), `usage` (no such scenario).
 */
export function signedRequest(gateway: string, about: SignedRequestOptions): Request {
  return requestOf(readSettings(about.options), gateway, about)
}

/** The same, with options that are read already. */
export function requestOf(
  { gateways, origin, webhookPaths }: Settings,
  nameOrAlias: string,
  { payment, scenario, signedAt }: CallbackStatement,
): Request {
  const registered = requireGateway(gateways, nameOrAlias)
  const { gateway } = registered
  const { headers, body } = signCallback(registered, {
    payment,
    scenario: scenarioOf(gateway, scenario),
    now: signedAt ?? systemClock(),
    newId: newUuid,
  })
  const url = origin + webhookPaths[0].replace('{gateway}', gateway.name)
  return new Request(url, { method: 'POST', headers, body })
}
