import type { Endpoint } from '../events/endpoint.ts'
import type { Secret } from '../kernel/secret.ts'

/** An endpoint that the configuration declares; its host may be connected to, wherever it leads. */
export interface DeclaredEndpoint extends Pick<
  Endpoint,
  | 'name'
  | 'url'
  | 'description'
  | 'eventTypes'
  | 'gateways'
  | 'payload'
  | 'maxConcurrency'
  | 'ratePerSecond'
  | 'timeoutSeconds'
> {
  /** The newest first; all of them sign. */
  readonly secrets: readonly Secret[]
}
