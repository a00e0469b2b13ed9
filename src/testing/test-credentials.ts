import type { BillingOptions } from '../billing/options.ts'
import { listGateways } from '../billing/list-gateways.ts'
import { driverOf } from '../gateways/accounts.ts'
import { builtin } from '../gateways/builtin.ts'
import type { Gateway } from '../gateways/gateway.ts'
import type { CredentialField } from '../gateways/credential-fields.ts'
import { refuseDescriptorFaults } from '../gateways/registry.ts'

/** The same options, with what every gateway needs to sign and verify; given values win. Error: `setting_invalid`. */
export function withTestCredentials(options: BillingOptions): BillingOptions {
  const { extraGateways = [], gateways: given = {}, environment = {} } = options
  extraGateways.forEach(refuseDescriptorFaults)
  const drivers = [...builtin, ...extraGateways]
  // What is at fault is said by whoever reads the options next.
  const { listed } = listGateways(drivers, { gateways: given, environment })
  const gateways: Record<string, Readonly<Record<string, string>>> = { ...given }
  for (const { gateway } of listed) {
    gateways[gateway.name] = { ...ownCredentials(gateway), ...gateways[gateway.name] }
  }
  return { ...options, gateways }
}

/** No account shares a value with another one. */
function ownCredentials(gateway: Gateway): Readonly<Record<string, string>> {
  const isAccount = driverOf(gateway) !== gateway.name
  return testCredentials(gateway, isAccount ? gateway.name.replaceAll('-', '_') : 'test')
}

/** A value for each setting that the gateway needs to verify, and to sign for tests. */
export function testCredentials(
  gateway: Pick<Gateway, 'name' | 'credentials'>,
  owner = 'test',
): Readonly<Record<string, string>> {
  const needed = Object.entries(gateway.credentials).filter(([, field]) => isNeeded(field))
  return Object.fromEntries(
    needed.map(([name, field]) => [name, valueOf(gateway.name, { name, field }, owner)]),
  )
}

function valueOf(
  gateway: string,
  { name, field }: { readonly name: string; readonly field: CredentialField },
  owner: string,
): string {
  if (field.isSwitch) return 'on'
  return field.sample?.(owner) ?? `${owner}_${name}_of_${gateway}`
}

function isNeeded(field: CredentialField): boolean {
  return field.sample !== undefined || (field.required && field.default === undefined)
}
