import { errorCatalogue } from '../kernel/errors.ts'
import { tlsCodes } from '../kernel/tls-codes.ts'

/** What fails between this process and the database, and what to do about it. */
export interface TlsFault {
  readonly found: string
  readonly fix: string
}

/** By its code, and what the server, a pooler or OpenSSL says. */
const faults: readonly (readonly [pattern: RegExp, found: string, fix: string])[] = [
  [
    /^(?:SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|INVALID_CA)/,
    'its certificate is of an authority that is not known here',
    'Name the file of its CA certificate in DATABASE_URL: sslrootcert=FILE. Its host has it for download.',
  ],
  [
    /^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)/,
    'its certificate is for another name',
    'Use a name of the certificate in DATABASE_URL; or, with a CA of its own: sslmode=verify-ca&sslrootcert=FILE.',
  ],
  [
    /^CERT_HAS_EXPIRED/,
    'its certificate has expired',
    'Renew it at the server; check the clock of this machine.',
  ],
  [/^CERT_NOT_YET_VALID/, 'its certificate is not valid yet', 'Check the clock of this machine.'],
  [
    /alert protocol version|unsupported protocol|no protocols available/,
    'it has no version of TLS that is wanted here',
    'Let the server take TLS 1.2 or 1.3; check ssl_min_protocol_version in DATABASE_URL.',
  ],
  [
    /valid client certificate|alert certificate required/,
    'it wants a client certificate',
    'Name one and its key in DATABASE_URL: sslcert=FILE&sslkey=FILE.',
  ],
  [
    /^ERR_OSSL_/,
    'a file or password of DATABASE_URL does not fit',
    'Check sslrootcert, sslcert, sslkey (each a PEM file) and sslpassword.',
  ],
  [
    /server does not support SSL/,
    'it has no TLS',
    'Turn TLS on at the server; or sslmode=disable, where nobody can listen on the way.',
  ],
  [
    /no encryption|SSL off|SSL required|connection is insecure|requires? (?:SSL|TLS)/i,
    'it takes connections with TLS alone, or none of this user from here',
    'Add sslmode=verify-full to DATABASE_URL.',
  ],
]

/** Undefined: the fault is another. */
export function tlsFaultOf(error: unknown): TlsFault | undefined {
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error ? String(error.code) : ''
  const known = faults.find(([pattern]) => pattern.test(`${code} ${error.message}`))
  if (known !== undefined) return { found: known[1], fix: known[2] }
  if (!tlsCodes.test(code)) return undefined
  return { found: `${error.message.trim()} (${code})`, fix: errorCatalogue.database_tls_failed }
}
