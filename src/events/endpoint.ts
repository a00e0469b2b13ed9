export const endpointSources = ['api', 'config'] as const
/** Where an endpoint was made: by the API, or declared in the configuration. */
export type EndpointSource = (typeof endpointSources)[number]

export const endpointPayloads = ['full', 'thin'] as const
/** What is sent: the whole event, or which one it is. */
export type EndpointPayload = (typeof endpointPayloads)[number]

export const disabledReasons = ['operator', 'gone', 'failing'] as const
/** Why nothing is sent: somebody said so; it answered 410; it has failed for days. */
export type DisabledReason = (typeof disabledReasons)[number]

export const forwardStates = ['pending', 'delivered', 'failed'] as const
/** How an event stands at an endpoint that did not take it at first, or is to get it again. */
export type ForwardState = (typeof forwardStates)[number]

/** Where events are sent to, as signed requests. */
export interface Endpoint {
  readonly id: string
  readonly name: string
  readonly source: EndpointSource
  readonly url: string
  readonly description: string | null
  /** Events of these types; null: of all but those that anybody with a link can cause. */
  readonly eventTypes: readonly string[] | null
  /** Events about these gateways; null: all. */
  readonly gateways: readonly string[] | null
  readonly payload: EndpointPayload
  /** Requests under way at the same time, at most. */
  readonly maxConcurrency: number
  /** Requests in a second, at most; null: no limit. */
  readonly ratePerSecond: number | null
  /** How long one request may take. */
  readonly timeoutSeconds: number
  readonly enabled: boolean
  readonly disabledReason: DisabledReason | null
  readonly disabledAt: Date | null
  /** All events up to this position are dealt with: delivered, or tried again on their own. */
  readonly position: number
  /** Events beyond it, wanted or not. */
  readonly behind: number
  /** When the oldest event was written that it may still get; null: it has had all. */
  readonly oldestAt: Date | null
  /** Requests that have failed in a row. From five on only probes are sent. */
  readonly failures: number
  readonly failingSince: Date | null
  /** Nothing is sent before; null: at once. */
  readonly nextAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** An event that did not go at first, or is sent again. */
export interface Forward {
  readonly eventId: string
  readonly position: number
  readonly state: ForwardState
  readonly cause: 'retry' | 'resend'
  /** Attempts that have failed. */
  readonly attempts: number
  readonly nextAttemptAt: Date | null
}

/** One request to an endpoint. */
export interface ForwardAttempt {
  readonly id: string
  readonly eventId: string
  /** 0: a probe, which is no attempt of the event. */
  readonly attempt: number
  readonly at: Date
  readonly result: string
  /** Null: there was no answer. */
  readonly status: number | null
  readonly durationMs: number
  /** The beginning of a failing answer, or why there is none. */
  readonly response: string | null
}

/** The same, of one event at any endpoint. */
export interface EventForward extends Forward {
  /** Name of the endpoint. */
  readonly endpoint: string
}

/** One request by which an event was sent. */
export interface EventForwardAttempt extends ForwardAttempt {
  /** Name of the endpoint; null: it was removed. */
  readonly endpoint: string | null
}
