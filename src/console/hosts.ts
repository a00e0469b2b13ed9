import type { Context } from 'hono'
import { QuittanceError } from '../kernel/errors.ts'

/** Names that only ever lead to the machine of whoever uses them. */
export const ownMachine = ['localhost', '127.0.0.1', '[::1]'] as const

/** The name, and port, by which we are asked; HTTP/2 may say it in the address alone. */
export function hostOf(c: Context): string {
  return c.req.header('host')?.toLowerCase() ?? new URL(c.req.url).host
}

/**
 * Whether a `Host` header is one of these names: with a port, at that port alone. Error:
 * setting_invalid.
 */
export function hostsOf(names: readonly string[]): (host: string) => boolean {
  const known = new Set(names.map(readName))
  return (host) => known.has(host) || known.has(host.replace(/:\d+$/, ''))
}

function readName(name: string): string {
  const url = URL.parse(`http://${name}`)
  if (url !== null && url.pathname === '/' && url.host !== '' && url.username === '') {
    // The standard port is left out there, and so it is by browsers.
    return url.host
  }
  throw new QuittanceError('setting_invalid', `hosts must be names, got ${JSON.stringify(name)}`, {
    fix: 'Give names such as admin.example.com, or localhost:8080 for one port alone.',
  })
}
