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
  if (url.searchParams.has('target_session_attrs')) {
    return 'has target_session_attrs, which is not supported'
  }
  return undefined
}

const malformed = 'must look like postgres://user:password@host:5432/name'
const severalHosts = 'has several hosts, which is not supported'
