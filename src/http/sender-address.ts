import type { Context } from 'hono'
import { networkOf } from './network-of.ts'
import { nodeRequest } from './read-body.ts'

/** Who sends, by the address of the connection; empty where that is not known. */
export function senderAddress(c: Context): string {
  return networkOf(nodeRequest(c)?.socket.remoteAddress ?? '')
}
