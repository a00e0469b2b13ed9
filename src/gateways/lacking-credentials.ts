import type { CredentialField, Credentials } from './credential-fields.ts'
import type { RegisteredGateway } from './registry.ts'

/** The variables without which no callback is taken, and that are not set; `A or B` if one is enough. */
export function lackingCredentials({ gateway, credentials }: RegisteredGateway): readonly string[] {
  const fields = gateway.credentials
  const isThere = (name: string) => {
    const isOff = fields[name]?.isSwitch === true && credentials.settings[name] === 'off'
    return !isOff && isSet(name, credentials)
  }
  return Object.entries(fields)
    .filter(([, { required }]) => required)
    .map(([name, { requiredUnless }]) => [requiredUnless ?? [], name].flat())
    .filter((names) => !names.some(isThere))
    .map((names) => names.map((name) => variableOf(name, fields[name])).join(' or '))
}

/** What is set of a gateway, and what it lacks all the same. */
export interface HalfSet {
  readonly has: readonly string[]
  readonly lacks: readonly string[]
}

/** Undefined: nothing of it is set, or all that it needs. */
export function halfSet(found: RegisteredGateway): HalfSet | undefined {
  const { gateway, credentials } = found
  if (credentials.configured) return undefined
  const has = Object.entries(gateway.credentials)
    .filter(([name, field]) => field.default === undefined && isSet(name, credentials))
    .map(([name, field]) => variableOf(name, field))
  return has.length === 0 ? undefined : { has, lacks: lackingCredentials(found) }
}

/** What is said of it, by the names of the variables. */
export function halfSetText({ gateway: { name } }: RegisteredGateway, half: HalfSet): string {
  const [has, lacks] = [half.has.join(', '), half.lacks.join(', ')]
  return `gateway ${name} has ${has}, but not ${lacks}: its callbacks are refused`
}

function isSet(name: string, { secrets, settings }: Credentials): boolean {
  return (secrets[name]?.length ?? 0) > 0 || settings[name] !== undefined
}

function variableOf(name: string, field: CredentialField | undefined): string {
  return field?.env[0] ?? name
}
