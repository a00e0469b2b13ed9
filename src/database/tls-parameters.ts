import { readFileSync } from 'node:fs'
import { getCACertificates, type ConnectionOptions, type SecureVersion } from 'node:tls'
import type pg from 'pg'
import { QuittanceError } from '../kernel/errors.ts'

/**
 * - `full`: the certificate is of a trusted authority, and for the host of the URL;
 * - `authority`: it is of the authority that the URL names;
 * - `none`: it may be anybody's.
 */
type Check = 'full' | 'authority' | 'none'

/** `false`: without TLS. What libpq does not check is checked all the same, unless it is said. */
const modes: Readonly<Record<string, Check | false>> = {
  disable: false,
  allow: 'full',
  prefer: 'full',
  require: 'full',
  'verify-ca': 'authority',
  'verify-full': 'full',
  'no-verify': 'none',
}

/** What else drivers print for it. */
const short: Readonly<Record<string, Check | false>> = {
  true: 'full',
  '1': 'full',
  false: false,
  '0': false,
  'no-verify': 'none',
}

const versions = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const satisfies SecureVersion[]

/** Each parameter that is known, with the values that it may have; all others are refused. */
export const tlsParameters: Readonly<Record<string, readonly string[] | 'any'>> = {
  sslmode: Object.keys(modes),
  ssl: Object.keys(short),
  sslrootcert: 'any',
  sslcert: 'any',
  sslkey: 'any',
  sslpassword: 'any',
  sslnegotiation: ['postgres', 'direct'],
  ssl_min_protocol_version: versions,
  ssl_max_protocol_version: versions,
  // As it is always done here.
  sslcompression: 'any',
  sslsni: ['1'],
  sslcertmode: ['allow'],
}

const isAboutTls = (name: string) => name.startsWith('ssl') || name === 'uselibpqcompat'

/** What is wrong with those of a URL; undefined if nothing is. */
export function tlsParameterFault(parameters: URLSearchParams): string | undefined {
  for (const [name, value] of parameters) {
    if (!isAboutTls(name)) continue
    const allowed = Object.hasOwn(tlsParameters, name) ? tlsParameters[name] : undefined
    if (allowed === undefined) return `has ${name}, which is not supported`
    if (allowed !== 'any' && !allowed.includes(value)) {
      return `must have ${allowed.join(' or ')} as ${name}`
    }
  }
  return parameters.has('sslcert') === parameters.has('sslkey')
    ? undefined
    : 'must have sslcert and sslkey together'
}

/** The parameters of a URL as the driver takes them beside a URL without them. */
export function readTls(
  url: string,
): Pick<pg.ClientConfig, 'connectionString' | 'ssl' | 'sslnegotiation'> {
  const [, base = url, query = ''] = /^([^?#]*)\?([^#]*)/.exec(url) ?? []
  const parameters = new URLSearchParams(query)
  if (!Array.from(parameters.keys()).some(isAboutTls)) return { connectionString: url }
  const others = Array.from(parameters).filter(([name]) => !isAboutTls(name))
  const rest = new URLSearchParams(others).toString()
  const connectionString = rest === '' ? base : `${base}?${rest}`
  const isDirect = parameters.get('sslnegotiation') === 'direct'
  const check = checkOf(parameters)
  if (check === undefined) return { connectionString }
  if (check === false || isSocket(base, parameters)) return { connectionString, ssl: false }
  return {
    connectionString,
    ssl: optionsOf(check, parameters),
    ...(isDirect && { sslnegotiation: 'direct' }),
  }
}

/** Undefined: the URL says nothing of it. */
function checkOf(parameters: URLSearchParams): Check | false | undefined {
  const mode = parameters.get('sslmode')
  if (mode !== null) return modes[mode]
  const ssl = parameters.get('ssl')
  if (ssl !== null) return short[ssl]
  const implied = ['sslrootcert', 'sslcert'].some((name) => parameters.has(name))
  return implied || parameters.get('sslnegotiation') === 'direct' ? 'full' : undefined
}

/** Nobody listens there, and servers offer no TLS. */
function isSocket(base: string, parameters: URLSearchParams): boolean {
  return parameters.get('host')?.startsWith('/') ?? /[@/]%2f/i.test(base)
}

function optionsOf(check: Check, parameters: URLSearchParams): ConnectionOptions {
  const root = parameters.get('sslrootcert')
  const isFile = root !== null && root !== 'system'
  const passphrase = parameters.get('sslpassword')
  const minVersion = parameters.get('ssl_min_protocol_version') as SecureVersion | null
  const maxVersion = parameters.get('ssl_max_protocol_version') as SecureVersion | null
  const options: ConnectionOptions = {
    rejectUnauthorized: check !== 'none',
    ...(root === 'system' && { ca: [...getCACertificates(), ...getCACertificates('system')] }),
    // Without an authority of its own, anybody's certificate would do.
    ...(check === 'authority' && isFile && { checkServerIdentity: () => undefined }),
    ...(passphrase !== null && { passphrase }),
    ...(minVersion !== null && { minVersion }),
    ...(maxVersion !== null && { maxVersion }),
  }
  const files = { ca: isFile ? 'sslrootcert' : '', cert: 'sslcert', key: 'sslkey' }
  for (const [option, name] of Object.entries(files)) {
    const path = parameters.get(name)
    if (path !== null) readAlways(options, option, { name, path })
  }
  return options
}

/** Each connection reads the file: certificates are renewed. One that is gone by then stays as it was. */
function readAlways(
  options: ConnectionOptions,
  option: string,
  { name, path }: { readonly name: string; readonly path: string },
): void {
  let text: Buffer
  try {
    text = readFileSync(path)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new QuittanceError(
      'setting_invalid',
      `the file that ${name} names in the URL of the database cannot be read: ${reason}`,
      { cause: error },
    )
  }
  const get = () => {
    try {
      text = readFileSync(path)
    } catch {}
    return text
  }
  Object.defineProperty(options, option, { get, enumerable: true, configurable: true })
}
