import type { Context } from 'hono'
import { networkOf } from './network-of.ts'
import { nodeRequest } from './read-body.ts'

/** The sender, by the address of the connection; empty if unknown. */
export function senderAddress(c: Context): string {
  return networkOf(nodeRequest(c)?.socket.remoteAddress ?? '')
}
