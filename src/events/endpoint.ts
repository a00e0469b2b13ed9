import { counted } from '../kernel/counted.ts'
import * as field from '../kernel/noun.ts'
import { byChoice, byId, listOf, orNull, type Values } from '../kernel/noun.ts'

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

export const endpointFields = {
  id: field.id('endpoint'),
  name: field.text(),
  source: field.choice(endpointSources),
  url: field.text({ label: 'URL' }),
  description: orNull(field.text()),
  /** Events of these types; null: of all but those that anybody with a link can cause. */
  eventTypes: orNull(listOf(field.text())),
  /** Events about these gateways; null: all. */
  gateways: orNull(listOf(field.text())),
  payload: field.choice(endpointPayloads),
  /** Requests under way at the same time, at most. */
  maxConcurrency: field.count({ label: 'at once', toText: (most) => counted(most, 'request') }),
  /** Requests in a second, at most; null: no limit. */
  ratePerSecond: orNull(field.count()),
  /** How long one request may take. */
  timeoutSeconds: field.count({ label: 'timeout', toText: (seconds) => `${seconds} s` }),
  enabled: field.flag(),
  disabledReason: orNull(field.choice(disabledReasons)),
  disabledAt: orNull(field.time()),
  /** All events up to this position are dealt with: delivered, or tried again on their own. */
  position: field.count(),
  /** Events beyond its position, wanted or not. */
  behind: field.count(),
  /** When the oldest event was written that it may still get; null: it has had all. */
  oldestAt: orNull(field.time()),
  /** Requests that have failed in a row: from 5 on only probes are sent. */
  failures: field.count(),
  failingSince: orNull(field.time()),
  /** Nothing is sent before; null: at once. */
  nextAt: orNull(field.time()),
  createdAt: field.time(),
  updatedAt: field.time(),
}

/** Where events are sent to, as signed requests. */
export interface Endpoint extends Values<typeof endpointFields> {}

export const forwardFields = {
  eventId: field.id('event'),
  position: field.count(),
  state: field.choice(forwardStates),
  cause: field.choice(['retry', 'resend']),
  /** Attempts that have failed. */
  attempts: field.count({ label: 'failed attempts' }),
  nextAttemptAt: orNull(field.time()),
}

/** An event that did not go at first, or is sent again. */
export interface Forward extends Values<typeof forwardFields> {}

export const forwardFilters = { state: byChoice(forwardStates) }

/** What became of a request. */
export const answerFields = {
  result: field.text(),
  /** Null: there was no answer. */
  status: orNull(field.count()),
  durationMs: field.count({ label: 'took', toText: (milliseconds) => `${milliseconds} ms` }),
  /** What a failing answer says, or why there is none; null: nothing, or hidden from who may only read. */
  response: orNull(field.text()),
}

export const attemptFields = {
  id: field.id('attempt'),
  eventId: field.id('event'),
  /** 0: a probe, which is no attempt of the event. */
  attempt: field.count({ toText: (number) => (number === 0 ? 'probe' : `${number}`) }),
  at: field.time({ label: 'time' }),
  ...answerFields,
}

/** One request to an endpoint. */
export interface ForwardAttempt extends Values<typeof attemptFields> {}

export const attemptFilters = {
  /** The event whose attempts are listed. */
  eventId: byId('event'),
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
