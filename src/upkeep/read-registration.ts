import type { Addresses } from '../checkout/checkout-request.ts'
import type { RegisteredEndpoint, Registration } from '../gateways/operations.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import { requireGateway, requireOperation } from '../gateways/require.ts'
import { askProvider } from '../money/ask-provider.ts'
import type { ProviderContext } from '../money/context.ts'

/** What registering needs: no database. */
export interface RegistrationContext extends ProviderContext {
  readonly addresses: Addresses
}

/** How an endpoint differs from what is configured here; none if it does not. */
export type EndpointFault =
  | { readonly kind: 'disabled' }
  | {
      readonly kind: 'events'
      readonly missing: readonly string[]
      readonly extra: readonly string[]
    }
  | { readonly kind: 'version'; readonly found: string; readonly wanted: string }

/** An endpoint with our callback URL. */
export interface OwnEndpoint {
  readonly endpoint: RegisteredEndpoint
  /** What is wrong with it; registering fixes that. */
  readonly faults: readonly EndpointFault[]
  /** Whether its secret is configured here; undefined if the provider does not reveal it. */
  readonly secretIsConfigured: boolean | undefined
}

/** What the provider has registered, compared with what is configured here. */
export interface RegistrationState {
  /** Our callback URL. */
  readonly url: string
  /** Endpoints with that URL; the first is the one to keep. */
  readonly own: readonly OwnEndpoint[]
  /** Endpoints that were probably ours, under another path or domain. */
  readonly orphans: readonly RegisteredEndpoint[]
}

/**
 * What the provider has registered now. Errors: `gateway_unknown`, `operation_unsupported`,
 * `gateway_not_configured`, and the provider's.
 */
export async function readRegistration(
  name: string,
  context: RegistrationContext,
): Promise<RegistrationState> {
  const { found, registration } = requireRegistration(name, context)
  const url = context.addresses.callbackUrl(found.gateway.name)
  const endpoints = await askProvider(
    { of: found, operation: 'registration' },
    context,
    (operation) => registration.list(operation),
  )
  const own = endpoints
    .filter((endpoint) => sameUrl(endpoint.url, url))
    .map((endpoint) => ({
      endpoint,
      faults: faultsOf(endpoint, registration),
      secretIsConfigured: isConfigured(endpoint, found),
    }))
    .toSorted((a, b) => rank(a) - rank(b))
  const orphans = endpoints.filter((endpoint) => isOrphan(endpoint, url, found))
  return { url, own, orphans }
}

export function requireRegistration(
  name: string,
  { processing }: RegistrationContext,
): { readonly found: RegisteredGateway; readonly registration: Registration } {
  const found = requireGateway(processing.gateways, name)
  return { found, registration: requireOperation(found, 'registration') }
}

/** The version of an endpoint stays what it was made with. */
export function isOutdated({ faults }: OwnEndpoint): boolean {
  return faults.some(({ kind }) => kind === 'version')
}

/**
 * The lower, the better: what cannot be changed counts most, then whether its callbacks are taken.
 */
function rank(own: OwnEndpoint): number {
  return (isOutdated(own) ? 100 : 0) + (own.secretIsConfigured ? 0 : 10) + own.faults.length
}

export function isConfigured(
  { secret }: RegisteredEndpoint,
  { gateway, credentials }: RegisteredGateway,
): boolean | undefined {
  if (secret === undefined) return undefined
  const configured = credentials.secrets[gateway.registration?.secretField ?? ''] ?? []
  return configured.some((one) => one.reveal() === secret.reveal())
}

function faultsOf(
  { enabled, events, apiVersion }: RegisteredEndpoint,
  registration: Registration,
): readonly EndpointFault[] {
  const missing = registration.events.filter((event) => !events.includes(event))
  const extra = events.filter((event) => !registration.events.includes(event))
  const wanted = registration.apiVersion
  return [
    ...(enabled ? [] : [{ kind: 'disabled' } as const]),
    ...(missing.length + extra.length > 0 ? [{ kind: 'events', missing, extra } as const] : []),
    ...(wanted !== undefined && apiVersion !== wanted
      ? [{ kind: 'version', found: apiVersion ?? 'the default of the account', wanted } as const]
      : []),
  ]
}

/**
 * Probably ours from before: it names the gateway in its path, and has our host, or our path or the
 * default one at another host. This also fits another installation of the merchant's, so only a
 * person can tell whether it is in use.
 */
function isOrphan({ url }: RegisteredEndpoint, ours: string, found: RegisteredGateway): boolean {
  const [other, own] = [URL.parse(url), new URL(ours)]
  if (other === null || sameUrl(url, ours)) return false
  const { name, aliases } = found.gateway
  const segments = other.pathname.split('/').map((one) => (aliases.includes(one) ? name : one))
  if (!segments.includes(name)) return false
  const known = [own.pathname, `/billing/webhooks/${name}`, `/webhook/billing/${name}`]
  return other.host === own.host || known.includes(segments.join('/'))
}

function sameUrl(a: string, b: string): boolean {
  return URL.parse(a)?.href === URL.parse(b)?.href
}
