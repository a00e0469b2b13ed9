import { randomFraction } from '../kernel/ids.ts'
import { createConnections } from '../outbound/connect.ts'
import { startForwarder, type Forwarder } from '../outbound/forwarder.ts'
import type { Parts } from './parts.ts'
import type { ServiceSettings } from './settings.ts'

/** Sends to all endpoints that this process can send to. */
export function startForwarding(
  { processing, feed }: Pick<Parts, 'processing' | 'feed'>,
  { forward, clock, queue }: ServiceSettings,
): Forwarder {
  return startForwarder({
    ...processing,
    feed,
    declared: forward.declared,
    connections: createConnections(forward.connect),
    random: randomFraction,
    now: clock,
    queue,
  })
}
