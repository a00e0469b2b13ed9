import type { RegisteredEndpoint, Registration } from '../gateways/operations.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Secret } from '../kernel/secret.ts'
import { askProvider, type Operating } from '../money/operating.ts'
import { lackingCredential } from '../processing/plan-checkout.ts'

/** How an endpoint differs from what is configured here; none where it does not. */
export type EndpointFault =
  | { readonly kind: 'disabled' }
  | {
      readonly kind: 'events'
      readonly missing: readonly string[]
      readonly extra: readonly string[]
    }
  | { readonly kind: 'version'; readonly found: string; readonly wanted: string }

/** What the provider has registered, compared with what is configured here. */
export interface RegistrationState {
  /** Our callback URL. */
  readonly url: string
  /** Endpoints with that URL, and what is wrong with each. */
  readonly own: readonly {
    readonly endpoint: RegisteredEndpoint
    readonly faults: readonly EndpointFault[]
  }[]
  /** Endpoints that were probably ours under another path or domain. */
  readonly orphans: readonly RegisteredEndpoint[]
}

/** What registering came to. */
export interface RegistrationResult extends RegistrationState {
  /** `replaced`: a new endpoint, because the version of one cannot be changed. */
  readonly action: 'created' | 'updated' | 'replaced' | 'unchanged'
  /** The one that callbacks come from now. */
  readonly endpoint: RegisteredEndpoint
  /** Shown once, where the provider tells it. */
  readonly secret: Secret | undefined
}

/**
 * What the provider has registered now. Errors: `gateway_unknown`, `operation_unsupported`,
 * `gateway_not_configured`, those of the provider.
 */
export async function readRegistration(
  name: string,
  operating: Operating,
): Promise<RegistrationState> {
  const { found, registration } = requireRegistration(name, operating)
  const url = operating.addresses.callbackUrl(found.gateway.name)
  const endpoints = await askProvider(found, operating, (context) => registration.list(context))
  const own = endpoints
    .filter((endpoint) => sameUrl(endpoint.url, url))
    .map((endpoint) => ({ endpoint, faults: faultsOf(endpoint, registration) }))
  const orphans = endpoints.filter((endpoint) => isOrphan(endpoint, url, found))
  return { url, own, orphans }
}

/**
 * Makes the provider send exactly the events that we handle to our callback URL: one endpoint,
 * however often it is run. Errors: those of `readRegistration`, `public_url_unusable`.
 */
export async function registerWebhook(
  name: string,
  operating: Operating,
): Promise<RegistrationResult> {
  const { found, registration } = requireRegistration(name, operating)
  const state = await readRegistration(name, operating)
  requirePublic(state.url)
  const change = changeOf(state)
  const endpoint = await askProvider(found, operating, async (context) => {
    switch (change.action) {
      case 'unchanged':
        return change.endpoint
      case 'updated':
        return registration.update(change.endpoint.id, state.url, context)
      case 'replaced':
      case 'created':
        return registration.create(state.url, context)
    }
  })
  const isNew = change.action === 'created' || change.action === 'replaced'
  // Whatever else has our URL would send every event twice.
  const others = state.own.filter((one) => one.endpoint.id !== endpoint.id)
  const orphans = [...others.map((one) => one.endpoint), ...state.orphans]
  return {
    ...state,
    orphans,
    action: change.action,
    endpoint,
    secret: isNew ? endpoint.secret : undefined,
  }
}

/** Removes endpoints from the provider; callbacks to their URLs end. */
export async function removeEndpoints(
  name: string,
  ids: readonly string[],
  operating: Operating,
): Promise<void> {
  const { found, registration } = requireRegistration(name, operating)
  for (const id of ids)
    await askProvider(found, operating, (context) => registration.remove(id, context))
}

type Change =
  | { readonly action: 'created' }
  | {
      readonly action: 'updated' | 'replaced' | 'unchanged'
      readonly endpoint: RegisteredEndpoint
    }

/** The endpoint that needs the least change stays. */
function changeOf({ own }: RegistrationState): Change {
  const usable = own.filter(({ faults }) => faults.every(({ kind }) => kind !== 'version'))
  const best = usable.toSorted((a, b) => a.faults.length - b.faults.length)[0]
  if (best !== undefined) {
    const action = best.faults.length === 0 ? 'unchanged' : 'updated'
    return { action, endpoint: best.endpoint }
  }
  const [outdated] = own
  return outdated === undefined
    ? { action: 'created' }
    : { action: 'replaced', endpoint: outdated.endpoint }
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

/** The same host under another path, or the same path under another host. */
function isOrphan({ url }: RegisteredEndpoint, ours: string, found: RegisteredGateway): boolean {
  const [other, own] = [URL.parse(url), new URL(ours)]
  if (other === null || sameUrl(url, ours)) return false
  const names = [found.gateway.name, ...found.gateway.aliases]
  const isPath = names.some((name) => other.pathname.endsWith(`/${name}`))
  return isPath && (other.host === own.host || /webhook/.test(other.pathname))
}

function sameUrl(a: string, b: string): boolean {
  return URL.parse(a)?.href === URL.parse(b)?.href
}

function requirePublic(url: string): void {
  const { protocol, hostname } = new URL(url)
  const isLocal = /^(?:localhost|127\.|\[::1\]|0\.0\.0\.0)/.test(hostname)
  if (protocol === 'https:' && !isLocal) return
  throw new QuittanceError('public_url_unusable', `the provider cannot reach ${url}`)
}

function requireRegistration(
  name: string,
  { processing }: Operating,
): { readonly found: RegisteredGateway; readonly registration: Registration } {
  const found = processing.gateways.find(name)
  if (found === undefined) {
    const text = `there is no gateway ${JSON.stringify(name)}`
    throw new QuittanceError('gateway_unknown', text)
  }
  const { registration, title } = found.gateway
  if (registration === undefined) {
    const text = `${title} needs no registration: each request names the callback URL`
    throw new QuittanceError('operation_unsupported', text)
  }
  // The signing secret is what registering brings: only the key for the API must be there.
  const lacking = lackingCredential(found)
  if (lacking === undefined) return { found, registration }
  const text = `webhooks of ${title} cannot be registered without ${lacking}`
  throw new QuittanceError('gateway_not_configured', text, { fix: `Set ${lacking}.` })
}
