import type { AttemptsQuery, ForwardsQuery } from '../database/forwards.ts'
import type { Page } from '../database/page.ts'
import type { Endpoint, Forward, ForwardAttempt } from '../events/endpoint.ts'
import type { ChangeEndpointInput, CreateEndpointInput } from '../outbound/endpoint-input.ts'
import type { Sent } from '../outbound/send.ts'

/** A new endpoint, with its secret: it is shown this once. */
export interface CreatedEndpoint {
  readonly endpoint: Endpoint
  readonly secret: string
}

/** From where an endpoint reads on: from its place if left out. */
export interface EnableEndpointInput {
  /** `end`: what has come meanwhile is not sent. */
  readonly from?: 'end' | undefined
}

/** From where events are sent again: one of both. */
export interface ReplayInput {
  /** Those behind this event; `start`: all. */
  readonly after?: string | undefined
  readonly since?: Date | undefined
}

/** `billing.endpoints`; each is named by its id or its name. */
export interface EndpointOperations {
  list(): Promise<readonly Endpoint[]>
  /** Undefined: there is none. */
  get(endpoint: string): Promise<Endpoint | undefined>
  /**
   * Makes one; events from now on are sent to it. Errors: endpoint_invalid, endpoint_exists,
   * endpoint_url_refused, encryption_key_missing.
   */
  create(input: CreateEndpointInput): Promise<CreatedEndpoint>
  /**
   * Errors: endpoint_invalid, endpoint_not_found, endpoint_declared, endpoint_exists,
   * endpoint_url_refused.
   */
  update(endpoint: string, changes: ChangeEndpointInput): Promise<Endpoint>
  /** What it was sent is pruned later. Errors: endpoint_not_found, endpoint_declared. */
  remove(endpoint: string): Promise<void>
  /**
   * A new secret, which it returns; for 24 hours the old one signs as well. Errors:
   * endpoint_not_found, endpoint_declared, encryption_key_missing.
   */
  rotateSecret(endpoint: string): Promise<CreatedEndpoint>
  /** It is sent to again, and sent all that it has missed. Error: endpoint_not_found. */
  enable(endpoint: string, input?: EnableEndpointInput): Promise<Endpoint>
  /** Nothing is sent; its place stays. Error: endpoint_not_found. */
  disable(endpoint: string): Promise<Endpoint>
  /**
   * Sends again what it has had, under the same ids; what it has not had yet is never left out.
   * Errors: endpoint_not_found, query_invalid, cursor_invalid, cursor_unknown.
   */
  replay(endpoint: string, from: ReplayInput): Promise<Endpoint>
  /** Sends one event again. Errors: endpoint_not_found, event_not_found. */
  resend(endpoint: string, eventId: string): Promise<void>
  /** One signed request of type `EndpointTest`, which is no event; the answer. */
  test(endpoint: string): Promise<Sent>
  /** What was sent, newest first. Errors: endpoint_not_found, event_not_found, cursor_invalid. */
  attempts(endpoint: string, query?: AttemptsQuery): Promise<Page<ForwardAttempt>>
  /** What did not go at first, newest first. Errors: endpoint_not_found, cursor_invalid. */
  forwards(endpoint: string, query?: ForwardsQuery): Promise<Page<Forward>>
}
