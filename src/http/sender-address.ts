import type { Context } from 'hono'
import { networkOf } from './network-of.ts'
import { nodeRequest } from './read-body.ts'

/** The sender, by the address of the connection; empty if unknown. */
export function senderAddress(c: Context): string {
  return networkOf(remoteAddress(c) ?? '')
}

/** The address of the connection as it is; undefined if unknown. */
export function remoteAddress(c: Context): string | undefined {
  const node = nodeRequest(c)
  const address =
    node === undefined ? (addressOnBun(c) ?? addressOnDeno(c)) : node.socket.remoteAddress
  return typeof address === 'string' ? address : undefined
}

/** Bun hands its server to a handler; that knows the connection of each request. */
function addressOnBun(c: Context): unknown {
  const server: unknown = c.env
  if (!has(server, 'requestIP') || typeof server.requestIP !== 'function') return undefined
  const connection: unknown = server.requestIP(c.req.raw)
  return has(connection, 'address') ? connection.address : undefined
}

/** Deno hands over what it knows of the connection itself. */
function addressOnDeno(c: Context): unknown {
  const info: unknown = c.env
  if (!has(info, 'remoteAddr') || !has(info.remoteAddr, 'hostname')) return undefined
  return info.remoteAddr.hostname
}

function has<Name extends string>(value: unknown, name: Name): value is Record<Name, unknown> {
  return typeof value === 'object' && value !== null && name in value
}
