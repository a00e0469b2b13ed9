import { lookup, promises, type LookupAddress } from 'node:dns'
import http from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { seconds, type Duration } from '../kernel/duration.ts'
import { hostOf, isPublicAddress, type AllowedPlaces } from './address.ts'

/** The addresses of a name. */
export type Resolve = (host: string) => Promise<readonly string[]>

export interface ConnectPolicy {
  /** In production only public addresses are connected to, by https, and what is allowed besides. */
  readonly production: boolean
  readonly places: AllowedPlaces
  /** Another one for tests. */
  readonly resolve?: Resolve
  /** Of the resolver for names that anybody may have given; those of the system if left out. */
  readonly nameServers?: readonly string[]
  /** How long that resolver waits for them; 2 s if left out. */
  readonly resolveWithin?: Duration
}

/** Opens the connections of requests to endpoints, to allowed places alone. */
export interface Connections {
  /** What is wrong with a URL, whatever its name leads to; undefined: nothing. */
  fault(url: string): string | undefined
  /** `isFresh`: it opens a connection, whatever is open already. */
  agentOf(url: URL, isFresh: boolean): http.Agent
  end(): void
}

/** An address that must not be connected to. */
export const refusedCode = 'QUITTANCE_ADDRESS_REFUSED'

const defaultResolveWithin = seconds(2)
const idleMs = 10_000
/** Idle connections to one origin that are kept. */
const mostIdle = 8
/** For each address of a name but the last; Node's quarter of a second is less than some ways take. */
const addressWithinMs = 1_500

export function createConnections(policy: ConnectPolicy): Connections {
  const [trusted, others] = [agentsFor(policy, true), agentsFor(policy, false)]
  return {
    fault: (url) => urlFault(url, policy),
    agentOf(url, isFresh) {
      const agents = isTrustedUrl(url, policy) ? trusted : others
      return agents[isFresh ? 'fresh' : 'kept'][url.protocol === 'http:' ? 'http' : 'https']
    },
    end() {
      for (const { kept, fresh } of [trusted, others]) {
        for (const agent of [kept.http, kept.https, fresh.http, fresh.https]) agent.destroy()
      }
    },
  }
}

/** Wherever its name leads. */
function isTrustedUrl(url: URL, { production, places }: ConnectPolicy): boolean {
  return !production || places.isAllowedUrl(url)
}

/** A socket looks a name up without its port: what is trusted at one port has agents of its own. */
function agentsFor(policy: ConnectPolicy, isTrusted: boolean) {
  const settings = {
    keepAlive: true,
    timeout: idleMs,
    maxFreeSockets: mostIdle,
    lookup: guardedLookup(policy, isTrusted),
    autoSelectFamilyAttemptTimeout: addressWithinMs,
  }
  const once = { ...settings, keepAlive: false }
  return {
    kept: { http: new http.Agent(settings), https: new https.Agent(settings) },
    fresh: { http: new http.Agent(once), https: new https.Agent(once) },
  }
}

/** What is wrong with a URL, whatever its name leads to; undefined: nothing. */
export function urlFault(text: string, policy: ConnectPolicy): string | undefined {
  const { places } = policy
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return 'must be an http or https URL'
  if (url.username !== '' || url.password !== '') return 'must not contain a user or a password'
  if (url.hash !== '') return 'must not contain a fragment'
  if (isTrustedUrl(url, policy)) return undefined
  const address = hostOf(url.hostname)
  if (isIP(address) !== 0 && places.isAllowedAddress(address)) return undefined
  if (url.protocol !== 'https:') return 'must be https in production, unless its host is allowed'
  return isIP(address) === 0 || isPublicAddress(address)
    ? undefined
    : 'must not lead to an address that is not public, unless it is allowed'
}

/**
 * Looks a name up where the socket opens: what was checked is what is connected to. Every address has
 * to be allowed, and only those are passed on.
 */
function guardedLookup(policy: ConnectPolicy, isTrusted: boolean): LookupFunction {
  return (host, options, callback) => {
    const find = callbackify(() => addressesOf(host, policy, isTrusted))
    find((error, addresses) => {
      const [first] = addresses ?? []
      if (error !== null || first === undefined) callback(error, '')
      else if (options.all === true) callback(null, [...addresses])
      else callback(null, first.address, first.family)
    })
  }
}

async function addressesOf(
  host: string,
  policy: ConnectPolicy,
  isTrusted: boolean,
): Promise<readonly LookupAddress[]> {
  const { places, resolve } = policy
  // The system's own look-up knows the names of containers; it is slow to give up, so it is not used
  // for names that anybody may have given.
  const find = resolve ?? (isTrusted ? bySystem : (name) => byName(name, policy))
  const addresses = await find(host)
  const refused = addresses.find((one) => !isTrusted && !isAllowed(one, places))
  if (refused !== undefined) throw failure(refusedCode, `${host} leads to ${refused}`)
  if (addresses.length === 0) throw failure('ENOTFOUND', `${host} has no address`)
  return addresses.map((address) => ({ address, family: isIP(address) }))
}

function isAllowed(address: string, places: AllowedPlaces): boolean {
  return isPublicAddress(address) || places.isAllowedAddress(address)
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

/** By our own resolver: `dns.lookup` would block one of the few threads that all share. */
async function byName(
  host: string,
  { nameServers, resolveWithin: timeout = defaultResolveWithin }: ConnectPolicy,
): Promise<readonly string[]> {
  const resolver = new promises.Resolver({ timeout, tries: 1 })
  if (nameServers !== undefined) resolver.setServers(nameServers)
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const addresses = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  const [first] = answers
  if (addresses.length === 0 && first.status === 'rejected') throw first.reason
  return addresses
}

function bySystem(host: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, found) => {
      if (error === null) resolve(found.map(({ address }) => address))
      else reject(error)
    })
  })
}
