import type { Generated } from 'kysely'
import type { DisabledReason, EndpointPayload, EndpointSource } from '../events/endpoint.ts'
import type { NullableTimestamp, Timestamp } from './column-types.ts'

export interface FeedsTable {
  name: string
  last_position: Generated<bigint>
}

export interface EndpointsTable {
  id: string
  name: string
  source: EndpointSource
  url: string
  description: string | null
  event_types: string[] | null
  gateways: string[] | null
  payload: EndpointPayload
  /** Encrypted; null of one that is declared in the configuration. */
  secrets: Buffer | null
  max_concurrency: number
  rate_per_second: number | null
  timeout_seconds: number
  enabled: Generated<boolean>
  disabled_reason: DisabledReason | null
  disabled_at: NullableTimestamp
  /** All events up to it are dealt with. */
  position: bigint
  /** Dealt with beyond it. */
  ahead: Generated<bigint[]>
  /** In a row. */
  failures: Generated<number>
  failing_since: NullableTimestamp
  /** Nothing is sent before. */
  next_at: NullableTimestamp
  /** Changes with what is sent, and where. */
  revision: Generated<number>
  lease_token: string | null
  lease_until: NullableTimestamp
  created_at: Timestamp
  updated_at: Timestamp
}

/** Events that did not go to an endpoint at first, or are sent again. */
export interface ForwardsTable {
  endpoint_id: string
  event_id: string
  position: bigint
  state: 'pending' | 'delivered' | 'failed'
  cause: 'retry' | 'resend'
  attempts: number
  next_attempt_at: NullableTimestamp
  created_at: Timestamp
  updated_at: Timestamp
}

export interface ForwardAttemptsTable {
  id: string
  endpoint_id: string
  event_id: string
  /** 0: a probe, which is no attempt of the event. */
  attempt: number
  at: Timestamp
  result: string
  status: number | null
  duration_ms: number
  response: string | null
}
