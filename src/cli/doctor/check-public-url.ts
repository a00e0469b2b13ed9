import { readInstallationKey } from '../../database/installation.ts'
import { methodNotAllowed } from '../../intake/responses.ts'
import { notFound } from '../../http/respond.ts'
import { seconds } from '../../kernel/duration.ts'
import { isLocalHost } from '../../kernel/local-host.ts'
import { tlsCodes } from '../../kernel/tls-codes.ts'
import { askService } from '../ask-service.ts'
import { codeOf, describeError, rootOf } from '../describe-error.ts'
import { configuredNames, type Installation } from './installation.ts'
import type { DatabaseState } from './open-for-diagnosis.ts'
import { error, ok, skipped, warning, type Fault, type Finding } from './finding.ts'

const answerTimeout = seconds(5)

/** Whether gateways can reach the route at the URL they are given. */
export async function checkPublicUrl({
  checked,
  production,
  database,
}: Installation): Promise<readonly Finding[]> {
  if ('fault' in checked) {
    return ['public_url', 'route'].map((check) => skipped(check, 'the settings are wrong'))
  }
  const { origin, webhookPaths, gateways } = checked.value
  const real = configuredNames(gateways, 'signature').length > 0
  const [first] = gateways.list()
  const url = origin + webhookPaths[0].replace('{gateway}', first?.gateway.name ?? '')
  const route = await checkRoute(url)
  return [
    checkOrigin(new URL(origin), { production, real }),
    route.state === 'ok' ? await checkService(route, { origin, database }) : route,
  ]
}

/** A gateway comes from the internet, and most only over https. */
export function checkOrigin(
  { origin, hostname, protocol }: URL,
  { production, real }: { readonly production: boolean; readonly real: boolean },
): Finding {
  const worse = production ? error : warning
  if (isLocalHost(hostname)) {
    if (!production && !real) return ok('public_url', `${origin}, for this machine only`)
    return worse('public_url', {
      found: `${origin} cannot be reached from the internet`,
      fix: 'Set APP_URL to the public origin; with a tunnel, APP_NGROK_URL.',
    })
  }
  if (protocol === 'https:') return ok('public_url', origin)
  return worse('public_url', {
    found: `${origin} is not encrypted; gateways demand https`,
    fix: 'Put TLS in front, and correct APP_URL.',
  })
}

async function checkRoute(url: string): Promise<Finding> {
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(answerTimeout),
    })
    const location = response.headers.get('location')
    const fault = answerFault(response.status, await response.text(), location)
    if (fault === undefined) return ok('route', `answers at ${url}`)
    return error('route', { ...fault, found: `${url} ${fault.found}` })
  } catch (cause) {
    const fault = failureFault(cause)
    return error('route', { ...fault, found: `${url}: ${fault.found}` })
  }
}

/** The same finding, unless what answers there works on another database than ours. */
async function checkService(
  route: Finding,
  { origin, database }: { readonly origin: string; readonly database: DatabaseState },
): Promise<Finding> {
  if (database.kind === 'closed') return route
  // Only an outdated schema has none.
  const key = await readInstallationKey(database.database.db).catch(() => undefined)
  if (key === undefined) return route
  if ((await askService(origin, key)) !== 'other') return route
  return error('route', {
    found: `another service answers at ${origin}: it works on another database`,
    fix: 'Correct PORT or APP_URL here, or the database of the service.',
  })
}

/** What is wrong with the answer to a GET on our route; undefined if the answer is ours. */
function answerFault(status: number, body: string, location: string | null): Fault | undefined {
  if (status === methodNotAllowed.status && body === methodNotAllowed.body) return undefined
  const found = `answered ${status}`
  if (status === notFound.status && body === notFound.body) {
    return {
      found: `${found} by Quittance: the path differs`,
      fix: 'A proxy changes the path, or BILLING_WEBHOOK_PATH differs from the service’s.',
    }
  }
  if (status >= 300 && status < 400) {
    return {
      found: `${found}, a redirect to ${location ?? 'nowhere'}; gateways do not follow it`,
      fix: 'Set APP_URL to the origin that answers itself (https, with or without www).',
    }
  }
  if (status === 401 || status === 403 || status === 407) {
    return {
      found: `${found}: something in front asks who is there`,
      fix: 'Exempt the route from the password or firewall: its signature is its lock.',
    }
  }
  if (status === 404) {
    return {
      found: `${found}, and not by Quittance`,
      fix: 'Let the proxy pass this path on, or correct APP_URL.',
    }
  }
  if (status >= 502 && status <= 504) {
    return {
      found: `${found}: the proxy or tunnel does not reach the service`,
      fix: 'Start the service; check the port that the proxy passes on to.',
    }
  }
  return {
    found: `${found}, and not as Quittance does`,
    fix: 'Something else answers there: correct APP_URL or the proxy.',
  }
}

const failures: readonly (readonly [pattern: RegExp, found: string, fix: string])[] = [
  [/^ENOTFOUND|^EAI_/, 'its name cannot be resolved', 'Correct APP_URL, or the DNS record.'],
  [
    /^ECONNREFUSED/,
    'nothing listens there',
    'Start the service, or correct APP_URL (or PORT, where that makes the URL).',
  ],
  [tlsCodes, 'TLS fails', 'Install a valid certificate with its whole chain for this name.'],
]

function failureFault(cause: unknown): Fault {
  const code = codeOf(cause)
  const known = failures.find(([pattern]) => pattern.test(code))
  if (known !== undefined) return { found: `${known[1]} (${code})`, fix: known[2] }
  return {
    found: `no answer: ${describeError(rootOf(cause))}`,
    fix: 'Check that a firewall lets the connection through; it was tried from this machine.',
  }
}
