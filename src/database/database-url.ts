import { QuittanceError } from '../kernel/errors.ts'

/** What a path, a query or a fragment starts with. */
const afterAuthority = /[/?#]/

/**
 * Why a text is not the URL of a database; undefined if it is one. The text contains a password and
 * is not repeated. The driver knows one server per connection, and does not ask for its role.
 */
export function databaseUrlError(text: string): QuittanceError | undefined {
  const [, rest] = /^postgres(?:ql)?:\/\/(.*)$/s.exec(text) ?? []
  if (rest === undefined) return malformed()
  const [authority = ''] = rest.split(afterAuthority)
  if (authority.slice(authority.lastIndexOf('@') + 1).includes(',')) return several('several hosts')
  const url = URL.parse(text)
  if (url === null) return malformed()
  if (url.searchParams.getAll('host').some((host) => host.includes(','))) {
    return several('several hosts')
  }
  if (url.searchParams.has('target_session_attrs')) return several('target_session_attrs')
  return undefined
}

function malformed(): QuittanceError {
  return new QuittanceError(
    'setting_invalid',
    'DATABASE_URL must look like postgres://user:password@host:5432/name',
    { fix: 'Correct DATABASE_URL, or unset it to use the embedded database.' },
  )
}

function several(what: string): QuittanceError {
  return new QuittanceError('setting_invalid', `DATABASE_URL has ${what}, which is not supported`, {
    fix: 'Name one server, by a name that follows the primary: DNS, a virtual address or a proxy.',
  })
}
