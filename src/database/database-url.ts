import { seconds, type Duration } from '../kernel/duration.ts'
import { tlsParameterFault } from './tls-parameters.ts'

/** What a path, a query or a fragment starts with. */
const afterAuthority = /[/?#]/

/**
 * What is wrong with the URL of a database; undefined if nothing is. The text contains a password
 * and is not repeated. The driver knows one server per connection, and does not ask for its role.
 */
export function databaseUrlFault(text: string): string | undefined {
  const [, rest] = /^postgres(?:ql)?:\/\/(.*)$/s.exec(text) ?? []
  if (rest === undefined) return malformed
  const [authority = ''] = rest.split(afterAuthority)
  if (authority.slice(authority.lastIndexOf('@') + 1).includes(',')) return severalHosts
  const url = URL.parse(text)
  if (url === null) return malformed
  if (url.searchParams.getAll('host').some((host) => host.includes(','))) return severalHosts
  const refused = unsupported.find((name) => url.searchParams.has(name))
  if (refused !== undefined) return `has ${refused}, which is not supported`
  const [timeout] = url.searchParams.getAll('connect_timeout')
  if (timeout !== undefined && !wholeSeconds.test(timeout)) {
    return 'must have whole seconds, of at most six digits, as connect_timeout'
  }
  return tlsParameterFault(url.searchParams)
}

/** The driver would heed all but the first, and each is for this service to say. */
const unsupported = [
  'target_session_attrs',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
  'binary',
  'replication',
]

const wholeSeconds = /^-?\d{1,6}$/

/**
 * How long the URL says to wait for a connection; undefined if it does not. Zero and less count as
 * unstated: libpq would wait without limit, and a callback must be answered.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-CONNECT-TIMEOUT
 */
export function connectTimeoutOf(url: string): Duration | undefined {
  const stated = URL.parse(url)?.searchParams.get('connect_timeout') ?? ''
  return wholeSeconds.test(stated) && Number(stated) > 0 ? seconds(Number(stated)) : undefined
}

const malformed = 'must look like postgres://user:password@host:5432/name'
const severalHosts = 'has several hosts, which is not supported'
