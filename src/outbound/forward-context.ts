import type { Database } from '../database/connect.ts'
import type { Endpoint } from '../events/endpoint.ts'
import type { Cipher } from '../kernel/encryption.ts'
import type { Clock } from '../kernel/clock.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Secret } from '../kernel/secret.ts'
import type { Spans } from '../kernel/spans.ts'
import type { Numbers } from '../numbers/slots.ts'
import type { LoadContext } from '../processing/load-subjects.ts'
import type { Connections } from './connect.ts'
import type { DeclaredEndpoint } from './declared-endpoints.ts'
import type { Feed } from './feed.ts'
import type { OutgoingContext } from './load-outgoing.ts'

/** What sending to endpoints needs. */
export interface ForwardContext extends LoadContext, Pick<OutgoingContext, 'log'> {
  readonly database: Database
  readonly feed: Feed
  readonly connections: Connections
  readonly cipher: Cipher | undefined
  /** By name: their secrets are in the configuration alone. */
  readonly declared: ReadonlyMap<string, DeclaredEndpoint>
  readonly newId: NewId
  readonly numbers: Numbers
  /** Undefined without a tracer. */
  readonly spans?: Spans | undefined
  readonly random: () => number
  readonly now: Clock
  /** Blanks out known secrets in what is stored of an answer. */
  scrub(text: string): string
  /** Of events that are deferred. */
  readonly queue: string
  /** A deferred event waits: the workers of this process look for it now. */
  wake(what: 'subscription_events'): void
}

/** The secrets that sign now. */
export type SecretsOf = (endpoint: Pick<Endpoint, 'id' | 'name'>) => readonly Secret[]
