import type { RegisteredEndpoint } from '../gateways/operations.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { isLocalHost } from '../kernel/local-host.ts'
import type { Secret } from '../kernel/secret.ts'
import { askProvider } from '../money/ask-provider.ts'
import {
  isConfigured,
  isOutdated,
  readRegistration,
  requireRegistration,
  type RegistrationContext,
  type RegistrationState,
} from './read-registration.ts'

/** The result of registering. */
export interface RegistrationResult extends RegistrationState {
  /** `replaced`: a new endpoint, because the version of one cannot be changed. */
  readonly action: 'created' | 'updated' | 'replaced' | 'unchanged'
  /** The one that callbacks come from now. */
  readonly endpoint: RegisteredEndpoint
  /** As in `OwnEndpoint`. */
  readonly secretIsConfigured: boolean | undefined
  /** Shown once, if the provider reveals it. */
  readonly secret: Secret | undefined
}

/**
 * Makes the provider send exactly the events that we handle to our callback URL: one endpoint,
 * however often it is run. Errors: those of `readRegistration`, `public_url_unusable`.
 */
export async function registerWebhook(
  name: string,
  context: RegistrationContext,
): Promise<RegistrationResult> {
  const { found, registration } = requireRegistration(name, context)
  requirePublic(context.addresses.callbackUrl(found.gateway.name))
  const state = await readRegistration(name, context)
  const change = changeOf(state)
  const endpoint = await askProvider(
    { of: found, operation: 'registration' },
    context,
    (operation) => {
      if (change.action === 'unchanged') return Promise.resolve(change.endpoint)
      if (change.action === 'updated') {
        return registration.update(change.endpoint.id, state.url, operation)
      }
      return registration.create(state.url, operation)
    },
  )
  const isNew = change.action === 'created' || change.action === 'replaced'
  // Any other endpoint with our URL would send every event twice.
  const others = state.own.filter((one) => one.endpoint.id !== endpoint.id)
  return {
    ...state,
    orphans: [...others.map((one) => one.endpoint), ...state.orphans],
    action: change.action,
    endpoint,
    secretIsConfigured: isConfigured(endpoint, found),
    secret: isNew ? endpoint.secret : undefined,
  }
}

/** Removes endpoints at the provider; callbacks to their URLs stop. */
export async function removeEndpoints(
  name: string,
  ids: readonly string[],
  context: RegistrationContext,
): Promise<void> {
  const { found, registration } = requireRegistration(name, context)
  for (const id of ids)
    await askProvider({ of: found, operation: 'registration' }, context, (operation) =>
      registration.remove(id, operation),
    )
}

type Change =
  | { readonly action: 'created' }
  | {
      readonly action: 'updated' | 'replaced' | 'unchanged'
      readonly endpoint: RegisteredEndpoint
    }

function changeOf({ own }: RegistrationState): Change {
  const [best] = own
  if (best === undefined) return { action: 'created' }
  const { endpoint, faults } = best
  const action = isOutdated(best) ? 'replaced' : faults.length === 0 ? 'unchanged' : 'updated'
  return { action, endpoint }
}

function requirePublic(url: string): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:' && !isLocalHost(hostname)) return
  throw new QuittanceError('public_url_unusable', `the provider cannot reach ${url}`)
}
