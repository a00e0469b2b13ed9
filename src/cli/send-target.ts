import { QuittanceError } from '../kernel/errors.ts'
import { isLoopback } from '../kernel/local-host.ts'

/**
 * Where a signed callback may go: to this machine or to our own origin. Anybody else could pass it
 * on to the service, which accepts the signature for some minutes. The host as written decides:
 * what a name resolves to may change between a look-up and the request. Errors: `send_url_foreign`,
 * `usage`.
 */
export function sendTarget(url: string, ownOrigins: readonly string[]): string {
  const target = URL.parse(url)
  if (target === null || !/^https?:$/.test(target.protocol)) {
    throw new QuittanceError('usage', '--url must begin with http:// or https://')
  }
  if (ownOrigins.includes(target.origin) || isLoopback(target.hostname)) return target.href
  throw new QuittanceError(
    'send_url_foreign',
    `${target.origin} is neither this machine nor ${ownOrigins.join(' nor ')}; a signed callback stays with us`,
  )
}

/** An origin alone is no callback URL, so it stands for the one that is there. */
export function callbackAt(target: string, callbackPath: string): string {
  const { origin } = new URL(target)
  return target === `${origin}/` ? origin + callbackPath : target
}

/** A sent callback settles payments as the provider's would. Error: `send_in_production`. */
export function requireConsent(production: boolean, yes: boolean): void {
  if (!production || yes) return
  throw new QuittanceError(
    'send_in_production',
    'under NODE_ENV=production this settles a real payment, whether anybody has paid it or not',
  )
}
