import type { CredentialField, CredentialFields } from './credential-fields.ts'
import type { Gateway } from './gateway.ts'

/** Of which gateway this one is an account; its own name if it is none. */
export function driverOf({ name, driver = name }: Pick<Gateway, 'name' | 'driver'>): string {
  return driver
}

/** The gateway for those who run it, who may have several accounts; payers see its `title`. */
export function titleWithName(gateway: Pick<Gateway, 'name' | 'title' | 'driver'>): string {
  const { name, title } = gateway
  return driverOf(gateway) === name ? title : `${title} (${name})`
}

/**
 * An account of a gateway: it answers to a name of its own and has variables of its own, named by
 * account and field (`STRIPE_EU_SIGNING_SECRET`). In everything else it is the gateway.
 */
export function accountOf(driver: Gateway, name: string): Gateway {
  const renamed = renaming(driver.credentials, name)
  const credentials = Object.entries(driver.credentials).map(
    ([field, about]): readonly [string, CredentialField] => [
      field,
      { ...about, env: [variableOf(name, field)], description: renamed(about.description) },
    ],
  )
  const { registration } = driver
  return {
    ...driver,
    name,
    aliases: [],
    driver: driver.name,
    credentials: Object.fromEntries(credentials),
    ...(registration && {
      registration: { ...registration, notes: registration.notes.map(renamed) },
    }),
  }
}

/** The variable of an account's field. */
function variableOf(name: string, field: string): string {
  return `${name}_${field}`.replaceAll('-', '_').toUpperCase()
}

/** Descriptions and notes name the gateway's variables. */
function renaming(fields: CredentialFields, name: string): (text: string) => string {
  const variables = new Map(
    Object.entries(fields).flatMap(([field, { env }]) =>
      env.map((variable) => [variable, variableOf(name, field)] as const),
    ),
  )
  return (text) => text.replaceAll(/\b[A-Z][A-Z0-9_]+\b/g, (word) => variables.get(word) ?? word)
}
