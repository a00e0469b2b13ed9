import { fieldError, isQuittanceError, QuittanceError } from '../kernel/errors.ts'
import { parseSecrets, type Secret } from '../kernel/secret.ts'
import { allowedPlaces } from '../outbound/address.ts'
import { urlFault, type ConnectPolicy } from '../outbound/connect.ts'
import type { DeclaredEndpoint } from '../outbound/declared-endpoints.ts'
import { readEndpoint } from '../outbound/endpoint-input.ts'
import { signingKey } from '../outbound/sign.ts'
import { camelCase } from '../kernel/field-names.ts'
import type { DeclaredEndpointOption, forward } from './forward-settings.ts'
import type { Complete } from './setting.ts'

/** What goes out, as it is set. */
export interface ForwardSettings {
  /** By name. */
  readonly declared: ReadonlyMap<string, DeclaredEndpoint>
  readonly connect: ConnectPolicy
  readonly keepAttemptsDays: number
}

const fix = 'Correct forward in quittance.config.ts, or the variables BILLING_FORWARD_...'

/** Error: `setting_invalid`, which never shows a secret. */
export function readForward(
  { endpoints, url, secret, allow, keepAttemptsDays }: Complete<typeof forward>,
  production: boolean,
): ForwardSettings {
  const given = new Map(Object.entries(endpoints))
  if (url === undefined && secret !== undefined) throw invalid('forward.secret needs forward.url')
  if (url !== undefined) {
    if (given.has('default')) throw invalid('the endpoint default is declared twice')
    given.set('default', { url, secret: secret ?? '' })
  }
  const declared = Array.from(given, ([name, option]) => readDeclared(name, option))
  const origins = declared.map((one) => new URL(one.url).origin)
  const connect = { production, places: allowedPlaces(allow, origins) }
  for (const one of declared) {
    const fault = urlFault(one.url, connect)
    if (fault !== undefined) throw invalid(`the url of the endpoint ${one.name} ${fault}`)
  }
  return { declared: new Map(declared.map((one) => [one.name, one])), connect, keepAttemptsDays }
}

function readDeclared(name: string, option: DeclaredEndpointOption): DeclaredEndpoint {
  const { secret, ...fields } = Object.fromEntries(
    Object.entries(option).map(([field, value]) => [camelCase(field), value]),
  )
  try {
    return { ...readEndpoint({ ...fields, name }), secrets: secretsIn(secret) }
  } catch (error) {
    if (!isQuittanceError(error)) throw error
    throw invalid(`the endpoint ${name}: ${error.message}`)
  }
}

function secretsIn(given: unknown): readonly Secret[] {
  const secrets = typeof given === 'string' ? parseSecrets(given) : []
  if (secrets.length === 0) throw fieldError('endpoint_invalid', 'secret', 'is required')
  if (secrets.every((one) => signingKey(one.reveal()) !== undefined)) return secrets
  const rule = 'must be whsec_ and 24 to 64 bytes in base64'
  throw fieldError('endpoint_invalid', 'secret', rule)
}

function invalid(text: string): QuittanceError {
  return new QuittanceError('setting_invalid', text, { fix })
}
