import type { CredentialField, Credentials } from '../gateways/credential-fields.ts'
import { lackingCredentials } from '../gateways/lacking-credentials.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import { lackingCredential } from '../gateways/require.ts'

/** A setting of a gateway: whether it is there, and never what a secret is. */
export interface ShownCredential {
  /** The usual variable. */
  readonly variable: string
  readonly description: string
  readonly secret: boolean
  readonly required: boolean
  /** How many values it has: a secret may have several while it is rotated. */
  readonly values: number
  /** Null: it is a secret, or not set. */
  readonly value: string | null
}

/** What a gateway has of what it needs. */
export interface GatewaySetup {
  readonly name: string
  /** Variables without which no callback is taken; `A or B`, if one is enough. */
  readonly lacks: readonly string[]
  /** The variable without which its provider cannot be asked; null: it is there, or none is needed. */
  readonly lacksToAsk: string | null
  readonly credentials: readonly ShownCredential[]
  /** The variable of the secret that comes with a registered callback URL; null: there is none. */
  readonly registrationSecret: string | null
}

export function gatewaySetup(found: RegisteredGateway): GatewaySetup {
  const { gateway, credentials } = found
  const fields = Object.entries(gateway.credentials)
  const secretField = gateway.registration?.secretField
  return {
    name: gateway.name,
    lacks: lackingCredentials(found),
    lacksToAsk: lackingCredential(found) ?? null,
    credentials: fields.map(([name, field]) => shownCredential(name, field, credentials)),
    registrationSecret:
      secretField === undefined ? null : variableOf(gateway.credentials[secretField], secretField),
  }
}

function shownCredential(
  name: string,
  field: CredentialField,
  credentials: Credentials,
): ShownCredential {
  return {
    variable: variableOf(field, name),
    description: field.description,
    secret: field.secret,
    required: field.required,
    values: valuesOf(name, credentials),
    value: field.secret ? null : (credentials.settings[name] ?? null),
  }
}

function valuesOf(name: string, { secrets, settings }: Credentials): number {
  return (secrets[name]?.length ?? 0) + (settings[name] === undefined ? 0 : 1)
}

function variableOf(field: CredentialField | undefined, name: string): string {
  return field?.env[0] ?? name
}
